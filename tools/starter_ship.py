"""Makes a run the bundled model: python tools/starter_ship.py RUN, in a clone.

Copies config, record, history and tokenizer of a trained run into models/starter, its best weights in
float16, and converts these for CTranslate2. The card and the confidences are left to be written anew.
"""

import argparse
import shutil
from pathlib import Path

from ptenmt.runs import Run, find_run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import read_weights, write_weights

STARTER = Path(__file__).parents[1] / "models" / "starter"


def main() -> None:
    """Copy, halve and convert."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN")
    run = find_run(parser.parse_args().run)
    for name in ("config.yaml", "run.json", "history.jsonl"):
        shutil.copyfile(run.path / name, STARTER / name)
    for folder in ("tokenizer", "weights", "ctranslate2"):
        shutil.rmtree(STARTER / folder, ignore_errors=True)
    shutil.copytree(run.tokenizer_folder, STARTER / "tokenizer")
    info, arrays = read_weights(run.weights_folder / "best.safetensors")
    starter = Run(STARTER)
    best = starter.weights_folder / "best.safetensors"
    write_weights(best, arrays, run.config(), info.step, info.score, info.loss, is_half=True)
    model = ctranslate2_model(TrainedModel.load(starter))
    print(
        f"{STARTER}: step {info.step:,}, {sum(map(len, model.files.values())) / 1e6:.1f} MB for CTranslate2"
    )


if __name__ == "__main__":
    main()
