"""What ``transformers``, and CTranslate2's converter, make of an export: JSON for ``test_huggingface.py``.

It needs a Python with ``transformers``, ``torch`` and ``ctranslate2``::

    python run_transformers.py FOLDER TEXT…
"""

import json
import sys
import tempfile
from typing import Any

import ctranslate2
import torch
from ctranslate2.converters import TransformersConverter
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

LENGTH = 30


def by_ctranslate2(folder: str, tokenizer: Any, rows: list[list[int]]) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        TransformersConverter(folder).convert(place, force=True)
        found = ctranslate2.Translator(place).translate_batch(
            [tokenizer.convert_ids_to_tokens(ids) for ids in rows],
            beam_size=4,
            max_decoding_length=LENGTH,
            min_decoding_length=0,
            disable_unk=True,
        )
    ids = [tokenizer.convert_tokens_to_ids(result.hypotheses[0]) for result in found]
    return [tokenizer.decode(each, skip_special_tokens=True) for each in ids]


def main() -> None:
    folder, *texts = sys.argv[1:]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    rows = [tokenizer(text)["input_ids"] for text in texts]
    found: dict[str, Any] = {"class": type(model).__name__, "ids": rows}
    with torch.no_grad():
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        start = torch.full((len(texts), 1), model.config.decoder_start_token_id)
        fed = torch.cat([start, batch["input_ids"][:, 1:4]], dim=1)
        found["fed"] = fed.tolist()
        found["logits"] = model(**batch, decoder_input_ids=fed).logits.tolist()
        for beams in (1, 4):
            options = {"num_beams": beams, "max_length": None, "max_new_tokens": LENGTH}
            outputs = [
                model.generate(**tokenizer([text], return_tensors="pt"), **options)[0] for text in texts
            ]
            found[f"beams{beams}"] = [tokenizer.decode(ids, skip_special_tokens=True) for ids in outputs]
    try:
        from transformers import pipeline

        translate = pipeline("translation", model=model, tokenizer=tokenizer)
        found["pipeline"] = [translate(text, max_new_tokens=LENGTH)[0]["translation_text"] for text in texts]
    except KeyError:  # transformers 5 has no such pipeline any more
        pass
    if model.config.pad_token_id != 0 or found["class"].startswith("Pegasus"):
        found["ctranslate2"] = by_ctranslate2(folder, tokenizer, rows)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
