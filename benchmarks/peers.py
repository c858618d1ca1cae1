"""Speed and BLEU of programs that translate with one model: ptenmt, and what loads its exports.

All search with 4 beams, each turn in a process of its own, in turns. Loading is not counted.

    python benchmarks/peers.py --pairs FILE.tsv.gz --argos-python PYTHON --transformers-python PYTHON
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from baselines.criteria import print_table
from baselines.machine import describe, same_command
from baselines.processes import hide_gpus
from baselines.translation_task import Task
from translation import measure, translate_file

PEER = Path(__file__).parent / "baselines" / "peer_translation.py"
TUNED = {"ARGOS_INTER_THREADS": "2", "ARGOS_INTRA_THREADS": "1"}
EXPORTS = (
    ("argos", "argos", "model.argosmodel"),
    ("ctranslate2", "ctranslate2", "ctranslate2"),
    ("transformers", "huggingface", "huggingface"),
)
BEAM = 4
OWN = "ptenmt translate"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", default="starter", help="the trained run (default: starter)")
    parser.add_argument("--pairs", type=Path, required=True, help="sentence pairs, tab-separated")
    parser.add_argument("--sentences", type=int, default=300, help="of them, evenly spread (default: 300)")
    parser.add_argument("--argos-python", required=True, help="a Python with argostranslate")
    parser.add_argument("--transformers-python", required=True, help="a Python with transformers and torch")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program (default: 3)")
    return parser.parse_args()


class Turn(NamedTuple):
    """A translation of all sentences."""

    sentences: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Sentences per second."""
        return self.sentences / self.seconds


def peer(
    task: Task, python: str, program: str, export: Path, output: Path, variables: dict[str, str]
) -> Turn:
    """A turn of another program."""
    command = [python, PEER, program, export, task.sentences_file, output]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"} | variables
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    seconds, cpu_seconds = map(float, done.stdout.split()[-2:])
    return Turn(len(task.sentences()), seconds, cpu_seconds)


def own_command(task: Task, output: Path) -> Turn:
    """A turn of ``ptenmt translate``: the time for a line is subtracted, that of loading."""
    one, all_lines = (_times(task, file) for file in (task.file_of(1), task.sentences_file))
    (task.folder / "output.txt").replace(output)
    return Turn(len(task.sentences()), all_lines[0] - one[0], all_lines[1] - one[1])


def _times(task: Task, file: Path) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = translate_file(task, file, BEAM).seconds
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    import sacrebleu

    from ptenmt import export_model
    from ptenmt.config.schema import CorpusFile
    from ptenmt.data.readers import read_pairs

    options = parse()
    hide_gpus()
    pairs = list(read_pairs(CorpusFile(path=str(options.pairs))))
    pairs = [pairs[number * len(pairs) // options.sentences] for number in range(options.sentences)]
    with tempfile.TemporaryDirectory() as folder:
        task = Task(Path(folder), options.run)
        task.sentences_file.write_text("".join(f"{source}\n" for source, _ in pairs), encoding="utf-8")
        exports = {
            program: export_model(options.run, format=form, output=task.folder / name).path
            for program, form, name in EXPORTS
        }
        peers = {
            "Argos Translate": (options.argos_python, "argos", {}),
            "Argos Translate, 2 threads": (options.argos_python, "argos", TUNED),
            "transformers, 1 thread": (options.transformers_python, "transformers", {"OMP_NUM_THREADS": "1"}),
            "CTranslate2": (sys.executable, "ctranslate2", {}),
        }
        outputs = {name: task.folder / f"{name}.out" for name in (*peers, OWN)}
        turns = {
            name: partial(peer, task, python, program, exports[program], outputs[name], variables)
            for name, (python, program, variables) in peers.items()
        }
        turns[OWN] = partial(own_command, task, outputs[OWN])
        print(f"{describe(options.transformers_python)}\n{same_command(for_page=True)}\n", flush=True)
        rates = measure(turns, options.rounds)
        rows = [["", "sentences/s, median (range)", "CPU seconds per 100", "BLEU"]]
        references = [target for _, target in pairs]
        for name, measured in rates.items():
            values = [turn.rate for turn in measured]
            translations = outputs[name].read_text(encoding="utf-8").split("\n")[:-1]
            bleu = sacrebleu.corpus_bleu(translations, [references]).score
            middle = statistics.median(values)
            cpu = statistics.median(100 * turn.cpu_seconds / turn.sentences for turn in measured)
            shown = f"{middle:.1f} ({min(values):.1f}–{max(values):.1f})"
            rows.append([name, shown, f"{cpu:.1f}", f"{bleu:.1f}"])
    print_table(rows)


if __name__ == "__main__":
    main()
