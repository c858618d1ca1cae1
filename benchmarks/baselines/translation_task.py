"""The task of all systems in translation.py: sentences, and the ids that ptenmt makes of them.

Large modules are imported inside functions, here and in the systems' files, to keep the parent process small:
the peak memory that Linux reports for a process is at least that of its parent at the fork.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple


class Segment(NamedTuple):
    """A segment of a sentence, as an engine gets it."""

    limit: int
    """Maximum number of tokens of its translation, including [END]."""
    ids: list[int]
    """Source ids, including [START] and [END]."""
    pieces: list[str]
    """The tokens of these ids."""


class Measured(NamedTuple):
    """Work of a system in one turn."""

    sentences: int
    seconds: float
    tokens: int = 0
    """Generated tokens, if known."""

    @property
    def rate(self) -> float:
        """Sentences per second."""
        return self.sentences / self.seconds


@dataclass(frozen=True)
class Task:
    """A task in a folder, for a trained run."""

    folder: Path
    run: str

    @property
    def sentences_file(self) -> Path:
        """The sentences, one per line."""
        return self.folder / "sentences.txt"

    def sentences(self, repeat: int = 1) -> list[str]:
        """All sentences, ``repeat`` times."""
        return self.sentences_file.read_text(encoding="utf-8").splitlines() * repeat

    def file_of(self, num_lines: int) -> Path:
        """Write a file of ``num_lines`` lines, which repeats the sentences."""
        sentences = self.sentences()
        file = self.folder / f"{num_lines}.txt"
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{sentences[line % len(sentences)]}\n" for line in range(num_lines))
        return file

    def segments(self) -> list[Segment]:
        """The segments of all sentences, the longest first."""
        return [Segment(*entry) for entry in self._facts()["segments"]]

    @property
    def export_folder(self) -> str:
        """The run's CTranslate2 model."""
        return str(self._facts()["export_folder"])

    @property
    def has_unknown(self) -> bool:
        """Whether [UNK] may be generated."""
        return bool(self._facts()["has_unknown"])

    def write(self, data_dir: str | None, input_file: str | None, most: int | None) -> int:
        """Write the task, and convert the run's weights for CTranslate2 if necessary.

        Args:
            data_dir: TFDS folder with the run's corpus, if it was moved.
            input_file: A file of sentences, instead of the run's test pairs.
            most: Maximum number of sentences.

        Returns:
            The number of sentences.
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
        recording = Translator(recorder, translator.tokenizers, config)
        recording.translate(sentences, replace(config.decoding, safeguards=False))
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
    """An engine that records its requests and returns empty translations."""

    name = "recorder"
    max_pending_batches = 0
    attention = None
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
