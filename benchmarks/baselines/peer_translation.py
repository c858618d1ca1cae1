"""Other programs that translate with an export of ptenmt; this file runs in their own environments.

    python peer_translation.py argos|ctranslate2|transformers EXPORT INPUT OUTPUT

translates the lines of INPUT with a beam of 4 and prints the seconds, and those of CPU time; loading is not
counted, nor are the first lines, which are translated once before.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Translate = Callable[[list[str]], list[str]]
BATCH = 32
WARM_UP = 8


def argos(export: str) -> Translate:
    """Argos Translate, a line a call; its variables ARGOS_… are the caller's."""
    os.environ["ARGOS_PACKAGES_DIR"] = tempfile.mkdtemp()
    os.environ["ARGOS_CHUNK_TYPE"] = "SPACY"  # the package's own; the default downloads a model
    from argostranslate import package, translate

    package.install_from_path(export)
    (installed,) = package.get_installed_packages()
    translation = translate.get_translation_from_codes(installed.from_code, installed.to_code)
    return lambda lines: [translation.translate(line) for line in lines]


def ctranslate2(export: str) -> Translate:
    """CTranslate2 and SentencePiece, all lines in a call, one thread a core."""
    import ctranslate2
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{export}/sentencepiece.model")
    translator = ctranslate2.Translator(export, inter_threads=len(os.sched_getaffinity(0)), intra_threads=1)

    def translate(lines: list[str]) -> list[str]:
        sources = [["[START]", *tokens, "[END]"] for tokens in pieces.encode(lines, out_type=str)]
        results = translator.translate_batch(sources, beam_size=4, max_batch_size=BATCH, disable_unk=True)
        return pieces.decode([result.hypotheses[0] for result in results])

    return translate


def transformers(export: str) -> Translate:
    """``generate`` of transformers with PyTorch, batches of lines of similar length."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(export)
    model = AutoModelForSeq2SeqLM.from_pretrained(export).eval()

    def translate(lines: list[str]) -> list[str]:
        order = sorted(range(len(lines)), key=lambda line: len(lines[line]))
        found = [""] * len(lines)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = tokenizer([lines[row] for row in rows], return_tensors="pt", padding=True)
            with torch.inference_mode():
                ids = model.generate(**batch, num_beams=4, max_length=None, max_new_tokens=256)
            for row, text in zip(rows, tokenizer.batch_decode(ids, skip_special_tokens=True), strict=True):
                found[row] = text
        return found

    return translate


def main() -> None:
    program, export, given, output = sys.argv[1:]
    lines = Path(given).read_text(encoding="utf-8").splitlines()
    translate = {"argos": argos, "ctranslate2": ctranslate2, "transformers": transformers}[program](export)
    translate(lines[:WARM_UP])
    started = time.perf_counter(), time.process_time()
    translations = translate(lines)
    ended = time.perf_counter(), time.process_time()
    Path(output).write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")
    print(*(end - start for start, end in zip(started, ended, strict=True)))


if __name__ == "__main__":
    main()
