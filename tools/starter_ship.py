"""Makes a run the bundled model: python tools/starter_ship.py RUN, in a clone.

Copies config, record, history and tokenizer of a trained run into models/starter, its best weights in
float16, and converts these for CTranslate2. Paths are written as below the folder that the training was
started in; the test pairs stay the everyday sentences. The card is left to be written.
"""

import argparse
import json
import shutil
from pathlib import Path

import yaml

from ptenmt.runs import Run, find_run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import read_weights, write_weights

STARTER = Path(__file__).parents[1] / "models" / "starter"


def copy_facts(run: Run) -> None:
    """Copy the config and the record, without this machine's paths, with the bundled test pairs."""
    texts = {name: (run.path / name).read_text(encoding="utf-8") for name in ("config.yaml", "run.json")}
    texts = {name: text.replace(f"{run.path.absolute().parents[1]}/", "") for name, text in texts.items()}
    config, record = yaml.safe_load(texts["config.yaml"]), json.loads(texts["run.json"])
    before = yaml.safe_load((STARTER / "config.yaml").read_text(encoding="utf-8"))
    config["data"]["test"], config["machine"] = before["data"]["test"], before["machine"]
    facts = Run(STARTER).facts()
    record["data"]["test"], record["licence"] = facts["data"]["test"], facts["licence"]
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    (STARTER / "config.yaml").write_text(text, encoding="utf-8")
    (STARTER / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(run.path / "history.jsonl", STARTER / "history.jsonl")


def main() -> None:
    """Copy, halve and convert."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN")
    run = find_run(parser.parse_args().run)
    copy_facts(run)
    for folder in ("tokenizer", "weights", "ctranslate2"):
        shutil.rmtree(STARTER / folder, ignore_errors=True)
    shutil.copytree(run.tokenizer_folder, STARTER / "tokenizer")
    info, arrays = read_weights(run.weights_folder / "best.safetensors")
    starter = Run(STARTER)
    best = starter.weights_folder / "best.safetensors"
    halves = {name: array.astype("f2") for name, array in arrays.items()}
    write_weights(best, halves, run.config(), info.step, info.score, info.loss)
    ctranslate2_model(TrainedModel.load(starter))  # fills the cache
    size = sum(file.stat().st_size for file in starter.ctranslate2_folder.iterdir())
    print(f"{STARTER}: step {info.step:,}, {size / 1e6:.1f} MB for CTranslate2")


if __name__ == "__main__":
    main()
