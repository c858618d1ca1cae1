"""Model cards: what a model is, its training data, scores and limits; and what another program lacks."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import yaml

from ptenmt.config import Config, CorpusFile, DecodingConfig
from ptenmt.config.loading import without_paths
from ptenmt.data.languages import language_name
from ptenmt.data.text import spacing
from ptenmt.runs import NOTHING, History, versions
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.scores import Scorer
from ptenmt.tokenizers import suppressed_ids

CARD_FILE = "README.md"
"""Where Argos Translate, model hubs and people look for a description."""
SUMS_FILE = "SHA256SUMS"
"""As ``sha256sum --check`` reads it."""

SEARCH_OPTIONS = ("repetition_penalty", "no_repeat_ngram", "top_k")
"""Of the section ``decoding``: those that not every search has."""

_SECTIONS = ("tokenizer", "model", "batch", "training", "optimizer", "decoding")
_LANGUAGES = ("source_language", "target_language", "reverse")
_PREPARATION = ("tokenization", "lowercase", "normalization")


def card_text(name: str, /, **values: object) -> str:
    """Fill a file of ``texts/``, a template of Jinja's."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    texts = Environment(
        loader=PackageLoader("ptenmt.export", "texts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return texts.get_template(name).render(**values)


def json_file(value: object) -> bytes:
    """The content of a JSON file."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def with_card(files: Mapping[str, bytes], card: str) -> dict[str, bytes]:
    """Add a model card in Markdown to the files of an export, and the checksums of all of them."""
    files = {**files, CARD_FILE: card.encode()}
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return files | {SUMS_FILE: "".join(sums).encode()}


def model_card(trained: TrainedModel, usage: str, *, extra: str = "") -> str:
    """Write a model card, ``texts/card.md``; raises RunError if ``run.json`` is damaged.

    ``usage``, how the export is used, and ``extra``, sections that only this format has, are Markdown.
    """
    config, facts = without_paths(trained.config), trained.run.facts()
    source, target = map(language_name, config.data.languages)
    lines = History(trained.run.path).validations()
    corpora = [entry.strip() for corpus in facts.get("corpora", []) for entry in corpus["bibtex"]]
    files = config.data.train or ([CorpusFile(path=config.data.path)] if config.data.path else [])
    card = card_text(
        "card.md",
        name=trained.run.name,
        source=source,
        target=target,
        model=config.model,
        data=config.data,
        max_positions=config.model.max_positions,
        is_wordpiece=config.tokenizer.kind == "wordpiece",
        files=[part for file in files for part in (file.path, file.source, file.target) if part],
        num_parameters=sum(array.size for array in trained.weights.values()),
        today=datetime.now(UTC).date(),
        info=trained.info,
        facts=facts,
        citations=dict.fromkeys(corpora),
        # The validation of these weights, or else the last one.
        line=next((line for line in lines[::-1] if line["step"] == trained.info.step), lines and lines[-1]),
        scored=_scored_metrics(),
        versions=versions(),
        nothing=NOTHING,
        options=_options(config),
        usage=usage,
        extra=extra,
        Path=Path,
    )
    return re.sub(r"\n{3,}", "\n\n", card).rstrip() + "\n"


def _scored_metrics() -> list[tuple[str, str, int, str]]:
    """The scores of a validation: key, name, digits, and how they are computed."""
    scorer = Scorer("detokenized", [["a"]], ("BLEU", "chrF"))
    scorer.values(["a"])  # before that there are no signatures
    return [
        ("bleu", "BLEU", 1, f"sacreBLEU, `{scorer.signature('BLEU')}`"),
        ("chrf", "chrF", 1, f"sacreBLEU, `{scorer.signature('chrF')}`"),
        ("loss", "loss", 3, "nats per token, teacher-forced"),
        ("accuracy", "token accuracy", 3, "teacher-forced"),
    ]


def _options(config: Config) -> str:
    """The options that define the model and its text, as YAML."""
    values = asdict(config)
    kept = {section: values[section] for section in _SECTIONS}
    kept["data"] = {name: values["data"][name] for name in (*_LANGUAGES, *_PREPARATION)}
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True)


def lacking(config: Config, known: Collection[str] = ()) -> str:
    """The first option of a run, as ``section.name=value``, that a program of plain text does not follow.

    ``known``: which ``SEARCH_OPTIONS`` the program has. Empty if there is none.
    """
    if (tokenization := spacing(config.data)) != "none":
        return f"data.tokenization={tokenization}"
    for name in SEARCH_OPTIONS:
        value = getattr(config.decoding, name)
        if name not in known and value != getattr(DecodingConfig(), name):
            return f"decoding.{name}={value}"
    return ""


def warn_if_lacking(trained: TrainedModel, program: str, known: Collection[str] = ()) -> None:
    """Warn if a program's translations will differ from ptenmt's; arguments as for ``lacking``."""
    if missing := lacking(trained.config, known):
        advice = "; better train on plain text, as configs/files.yaml does"
        trained.on_warning(
            f"{program} has no {missing}: translations will be worse{advice if 'data.' in missing else ''}"
        )


def never_generated(trained: TrainedModel) -> list[int]:
    """The ids of the target's vocabulary that search never generates."""
    ids = set(range(trained.tokenizers.target.vocabulary_size))
    return sorted(set(suppressed_ids(trained.config.tokenizer)) | ids - set(trained.output_ids or ids))
