"""What all systems of translation.py work on: sentences, and the ids that ptenmt makes of them.

Here and in the systems' files what is large is imported inside functions. The process that starts them
stays small that way, and it has to: the peak memory that Linux tells of a process begins with its parent's.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Segment(NamedTuple):
    """What an engine is given of a sentence; of a long one it is given several."""

    limit: int
    """The most tokens of its translation, [END] counted."""
    ids: list[int]
    """[START] and [END] included."""
    pieces: list[str]
    """What the ids stand for."""


class Measured(NamedTuple):
    """What a system did in a turn."""

    sentences: int
    seconds: float
    tokens: int = 0
    """Generated ones, where they are known."""

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.sentences / self.seconds


@dataclass(frozen=True)
class Task:
    """A folder with the sentences, and the run that translates them."""

    folder: Path
    run: str

    @property
    def sentences_file(self) -> Path:
        """A sentence a line."""
        return self.folder / "sentences.txt"

    def sentences(self, repeat: int = 1) -> list[str]:
        """All sentences, so many times."""
        return self.sentences_file.read_text(encoding="utf-8").splitlines() * repeat

    def file_of(self, num_lines: int) -> Path:
        """A file of so many lines: the sentences again and again."""
        sentences = self.sentences()
        file = self.folder / f"{num_lines}.txt"
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{sentences[line % len(sentences)]}\n" for line in range(num_lines))
        return file

    def segments(self) -> list[Segment]:
        """What ptenmt gives its engines of all sentences, the longest first."""
        return [Segment(*entry) for entry in self._facts()["segments"]]

    @property
    def export_folder(self) -> str:
        """Where the run's export for CTranslate2 is."""
        return str(self._facts()["export_folder"])

    @property
    def has_unknown(self) -> bool:
        """Whether [UNK] may be produced."""
        return bool(self._facts()["has_unknown"])

    def write(self, data_dir: str | None, input_file: str | None, most: int | None) -> int:
        """Fill the folder, and see to it that the run's export is up to date.

        Args:
            data_dir: Where the run's TFDS corpus is, if not where it was trained.
            input_file: A file of sentences, instead of the run's test pairs.
            most: At most so many sentences.

        Returns:
            How many sentences there are.
        """
        from ptenmt.data.readers import read_lines
        from ptenmt.runs import find_run
        from ptenmt.tokenizers import UNK, suppressed_ids
        from ptenmt.translation import Translator

        run = find_run(self.run)
        translator = Translator.load(run, engine="ctranslate2")
        config = translator.config
        given = list(read_lines(Path(input_file))) if input_file else _test_sentences(config, data_dir)
        sentences = given[:most]
        self.sentences_file.write_text("".join(f"{line}\n" for line in sentences), encoding="utf-8")
        recorder = _Recorder()
        Translator(recorder, translator.tokenizers, config).translate(sentences)
        pieces = translator.tokenizers.source.pieces
        segments = [Segment(limit, ids, pieces(ids)) for limit, ids in recorder.seen]
        segments.sort(key=lambda segment: -len(segment.ids))
        facts = {
            "segments": segments,
            "export_folder": str(run.ctranslate2_folder.absolute()),
            "has_unknown": UNK not in suppressed_ids(config.tokenizer),
        }
        self._facts_file.write_text(json.dumps(facts), encoding="utf-8")
        return len(sentences)

    @property
    def _facts_file(self) -> Path:
        return self.folder / "task.json"

    def _facts(self) -> dict:
        return json.loads(self._facts_file.read_text(encoding="utf-8"))


class _Recorder:
    """An engine that translates nothing and remembers what it was to translate."""

    max_pending_batches = 0
    batch_sentences, batch_tokens = 32, 512

    def __init__(self) -> None:
        self.seen: list[tuple[int, list[int]]] = []

    def submit(self, request):
        from ptenmt.tokenizers import END, START
        from ptenmt.translation.engine import Hypothesis

        self.seen += [(request.max_length, list(ids)) for ids in request.sources]
        return lambda: [[Hypothesis([START, END])] for _ in request.sources]


def _test_sentences(config, data_dir: str | None) -> list[str]:
    from dataclasses import replace

    from ptenmt.data.corpus import load_split

    data = replace(config.data, data_dir=data_dir) if data_dir else config.data
    return [source for source, _ in load_split(data, config.seed, "test")]
