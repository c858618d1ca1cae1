"""Model cards: what a model is, its training data, scores and limits."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ptenmt.config import Config, CorpusFile, DataConfig
from ptenmt.config.loading import without_paths
from ptenmt.data.text import language_name
from ptenmt.evaluation.scores import Scorer
from ptenmt.history import NOTHING, History
from ptenmt.runs import versions
from ptenmt.trained_model import TrainedModel

CARD_FILE = "README.md"
"""Where Argos Translate, model hubs and people look for a description."""
SUMS_FILE = "SHA256SUMS"
"""As ``sha256sum --check`` reads it."""

_TED = "ted_hrlr_translate/"
_TFDS_PAGE = "https://www.tensorflow.org/datasets/catalog"
_SECTIONS = ("tokenizer", "model", "batch", "training", "optimizer", "decoding")
_TEXT_OPTIONS = (
    "source_language",
    "target_language",
    "reverse",
    "tokenization",
    "lowercase",
    "normalization",
)
_UNKNOWN_LICENCE = (
    "ptenmt does not know the licence of these files: name it here before you distribute this model."
)


def card_text(name: str, /, **values: object) -> str:
    """Read a file of ``texts/`` and insert the values in place of ``{their names}``."""
    text = Path(__file__).with_name("texts").joinpath(name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text


def with_card(files: Mapping[str, bytes], card: str) -> dict[str, bytes]:
    """Add a model card in Markdown to the files of an export, and the checksums of all of them."""
    files = {**files, CARD_FILE: card.encode()}
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return files | {SUMS_FILE: "".join(sums).encode()}


def model_card(trained: TrainedModel, usage: str, *, extra: str = "") -> str:
    """Write a model card; raises RunError if ``run.json`` is damaged.

    ``usage``, how the export is used, and ``extra``, sections that only this format has, are Markdown.
    """
    config, facts = without_paths(trained.config), trained.run.facts()
    data = config.data
    source, target = map(language_name, data.languages)
    sections = [
        f"# {trained.run.name}: {source} to {target}\n\n{_summary(trained, facts, source, target)}",
        f"## Use\n\n{usage.strip()}",
        f"## Data\n\n{_data(data, facts)}",
        f"## Scores\n\n{_scores(trained)}",
        f"## Limits\n\n{_limits(config, source, target)}",
        f"## Versions\n\n{_versions(facts)}",
        f"## Configuration\n\n```yaml\n{_options(config)}```",
        extra.strip(),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _summary(trained: TrainedModel, facts: dict[str, Any], source: str, target: str) -> str:
    model = trained.config.model
    num_parameters = sum(array.size for array in trained.weights.values())
    now = datetime.now(UTC).date().isoformat()
    layers = f"{model.num_encoder_layers} encoder and {model.num_decoder_layers} decoder"
    text = (
        f"A Transformer that translates {source} into {target}: {layers} layers, width "
        f"{model.d_model}, {model.num_heads} heads, {num_parameters:,} parameters. "
        f"Trained with ptenmt until {str(facts.get('trained'))[:10]}; exported on {now}: weights "
        f"{trained.info.label}, checksum `{trained.info.checksum}`."
    )
    if origin := facts.get("initialized_from"):
        text += f" Training started from the weights of the run `{Path(origin).parent.parent.name}`."
    if averaged := facts.get("averaged_from"):
        text += f" The weights are the mean of {len(averaged['checkpoints'])} checkpoints of one training."
    if distilled := facts.get("distilled_from"):
        names = ", ".join(f"`{Path(teacher).name}`" for teacher in distilled["teachers"])
        text += f" It learned from translations by {names}: the licences of their data apply to it, too."
    return text


def _data(data: DataConfig, facts: dict[str, Any]) -> str:
    rows = [
        f"| {split} | {found['pairs']:,} | `{str(found['fingerprint'])[:16]}` |"
        for split, found in facts.get("data", {}).items()
    ]
    table = "\n".join(["| split | pairs | fingerprint |", "|---|---|---|", *rows])
    corpora = _public_corpora(facts.get("corpora", []))
    return "\n\n".join(filter(None, [_corpus(data), corpora, table if rows else ""]))


def _public_corpora(corpora: Sequence[Mapping[str, Any]]) -> str:
    """Licences and citations of the corpora that the config names."""
    if not corpora:
        return ""
    rows = [
        f"| `{each['name']}` | {each['pairs']:,} | {each['licence']} | {' '.join(each['urls'])} |"
        for each in corpora
    ]
    bibtex = "\n".join(dict.fromkeys(entry.strip() for each in corpora for entry in each["bibtex"]))
    intro = (
        "Public corpora, found with [mtdata](https://github.com/thammegowda/mtdata). The licences are what "
        "their publishers state, as far as ptenmt knows; check them before you distribute this model."
    )
    table = "\n".join(["| corpus | pairs | licence | source |", "|---|---|---|---|", *rows])
    return f"{intro}\n\n{table}\n\nCitations:\n\n```bibtex\n{bibtex}\n```"


def _corpus(data: DataConfig) -> str:
    """The source of the pairs, and their licence."""
    if data.source == "demo":
        return "ptenmt's demo corpus, composed by a small grammar. Licence: Apache-2.0."
    if data.source == "files":
        files: Sequence[CorpusFile] = data.train or [CorpusFile(path=data.path)]
        parts = (part for file in files for part in (file.path, file.source, file.target))
        names = ", ".join(f"`{part}`" for part in parts if part)
        return f"Sentence pairs from {names}. {_UNKNOWN_LICENCE}" if names else ""
    page = f"{_TFDS_PAGE}/{data.dataset.partition('/')[0]}"
    dataset = f"`{data.dataset}` of [TensorFlow Datasets]({page})."
    if data.dataset.startswith(_TED):
        return f"{dataset} These are transcripts of TED talks. Licence: CC BY-NC-ND 4.0."
    return f"{dataset} That page names its licence."


def _scores(trained: TrainedModel) -> str:
    """Validation scores of these weights, or else of the last validation."""
    lines = History(trained.run.path).validations()
    step = trained.info.step
    found = [line for line in lines if line["step"] == step] or lines
    if not found:
        return "This model has not been scored."
    line, scores = found[-1], found[-1]["validation"]
    which = "These weights" if step == line["step"] else "The training's last validation"
    scorer = Scorer("detokenized", [["a"]], ("BLEU", "chrF"))
    scorer.values(["a"])  # before that there are no signatures
    how_scored = {
        "bleu": ("BLEU", 1, f"sacreBLEU, `{scorer.signature('BLEU')}`"),
        "chrf": ("chrF", 1, f"sacreBLEU, `{scorer.signature('chrF')}`"),
        "loss": ("loss", 3, "nats per token, teacher-forced"),
        "accuracy": ("token accuracy", 3, "teacher-forced"),
    }
    rows = [
        f"| {name} | {scores[key]:.{digits}f} | {how} |"
        for key, (name, digits, how) in how_scored.items()
        if isinstance(scores.get(key), int | float)
    ]
    head = f"{which}, step {line['step']:,}, on the validation pairs (greedy search, 8-bit weights):"
    return "\n".join([head, "", "| score | value | how |", "|---|---|---|", *rows])


def _limits(config: Config, source: str, target: str) -> str:
    limits = card_text("limits.md", source=source, target=target, max_positions=config.model.max_positions)
    if config.tokenizer.kind == "wordpiece":
        limits += "- Its text is lower-case and without accents, like its tokenizer's vocabulary."
    elif config.data.lowercase:
        limits += "- Its text is lower-case, like its training data."
    return limits.strip()


def _versions(facts: dict[str, Any]) -> str:
    then, now = facts.get("versions", {}), versions()
    rows = [f"| {name} | {then.get(name, NOTHING)} | {now.get(name, NOTHING)} |" for name in {**then, **now}]
    return "\n".join(["| package | training | export |", "|---|---|---|", *rows])


def _options(config: Config) -> str:
    """The options that define the model and its text, as YAML."""
    values = asdict(config)
    kept = {section: values[section] for section in _SECTIONS}
    kept["data"] = {name: values["data"][name] for name in _TEXT_OPTIONS}
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True)
