"""The fields of requests and responses, which are LibreTranslate's in its routes, and their descriptions."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field

Text = Annotated[str, Field(examples=["Ela não tem tempo."])]
Language = Annotated[str, Field(min_length=1, max_length=35)]
Source = Annotated[Language, Field(description="Language code, or auto.", examples=["pt"])]
Target = Annotated[Language, Field(description="Language code.", examples=["en"])]


_TEXT_BY_DEFAULT = BeforeValidator(lambda given: given or "text")


def _switch(given: Any) -> Any:
    """A switch as DeepL's clients write it: true, 1 or "1"."""
    return str(int(given)) if isinstance(given, int) else given


class WithKey(BaseModel):
    """A request with an API key."""

    api_key: str | None = Field("", description="If the server requires one; or send it as a bearer token.")


class WithGlossary(BaseModel):
    """A request with a glossary."""

    glossary: str | None = Field("", description="Name of one of the server's glossaries; default: none.")


class DetectRequest(WithKey):
    """Texts whose language to detect."""

    q: str | list[str] = Field(description="One text or a list.", examples=["Ela não tem tempo."])


class TranslateRequest(DetectRequest, WithGlossary):
    """Texts to translate."""

    source: Source
    target: Target
    format: Annotated[Literal["text", "html"], _TEXT_BY_DEFAULT] = "text"
    alternatives: Annotated[
        int, BeforeValidator(lambda given: given or 0), AfterValidator(lambda given: max(given, 0))
    ] = Field(0, le=5, description="Number of alternative translations of each text.")
    confidence: bool = Field(False, description="Whether to add confidences; not in LibreTranslate.")


class DeepLRequest(TranslateRequest):
    """Texts to translate, in DeepL's fields or Immersive Translate's."""

    q: str | list[str] = Field(validation_alias=AliasChoices("text", "text_list"), examples=["Olá."])
    target: Target = Field(validation_alias="target_lang")
    source: Annotated[Source, BeforeValidator(lambda given: given or "auto")] = Field(
        "auto", validation_alias="source_lang"
    )
    format: Annotated[Literal["text", "html"], _TEXT_BY_DEFAULT] = Field(
        "text", validation_alias="tag_handling"
    )
    glossary: str | None = Field("", validation_alias="glossary_id", description="Name of a glossary.")
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(_switch)] = Field(
        "1", description="0: only at line breaks; nonewlines: not at line breaks."
    )
    formality: str | None = Field(None, description="Refused, unless it is default or begins with prefer_.")
    model_type: str | None = Field(None, description="Refused if it is quality_optimized.")
    style_id: str | None = Field(None, description="Refused.")
    custom_instructions: str | list[str] | None = Field(None, description="Refused.")


class DeepLLanguagesRequest(WithKey):
    """Which languages to list."""

    type: Literal["source", "target"] = "source"


class FileRequest(WithKey, WithGlossary):
    """The fields sent with a document."""

    source: Source
    target: Target


class SentenceRequest(WithKey):
    """A sentence of a language."""

    q: Text
    source: Language | None = Field(None, description="Language code; default: of the first model.")
    target: Language | None = Field(None, description="Language code; default: of the first model.")


class AlignmentRequest(SentenceRequest):
    """A sentence to translate and align."""

    prefix: str = Field("", description="Target prefix.")


class AlternativesRequest(AlignmentRequest):
    """A sentence and a target prefix whose next tokens vary."""

    count: int = Field(5, ge=1, le=10, description="Number of next-token alternatives.")


class AttentionRequest(SentenceRequest):
    """A sentence whose attention weights to return."""

    translation: str | None = Field(None, description="Its translation; default: the model's.")


class Detection(BaseModel):
    """A language that a text may be in, and how likely."""

    language: str
    confidence: float = Field(description="In percent.")


class SentenceAnswer(BaseModel):
    """A sentence of a translation."""

    translation: str
    confidence: float | None


WordProbability = tuple[str, float | None]


class TranslateAnswer(BaseModel):
    """Translations; lists if q is a list."""

    translatedText: str | list[str]
    detectedLanguage: Detection | list[Detection] | None = Field(None, description="If source is auto.")
    alternatives: list[str] | list[list[str]] | None = Field(None, description="If requested.")
    detected: str | list[str | None] | None = Field(
        None,
        description="The language, if it is confidently identified as another one; not in LibreTranslate.",
    )
    confidence: float | None | list[float | None] = Field(
        None, description="If requested: the expected sentence chrF / 100; null: unknown."
    )
    sentences: list[SentenceAnswer] | list[list[SentenceAnswer]] | None = Field(
        None, description="With the confidence: the sentences of the translation, in order."
    )
    words: list[WordProbability] | list[list[WordProbability]] | None = Field(
        None,
        description="With the confidence: the words of the translation, in order, each with its probability; "
        "null: put in by the server, such as a URL.",
    )


class NamedLanguage(BaseModel):
    """A language."""

    code: str
    name: str


class LanguageAnswer(NamedLanguage):
    """A language and its target languages."""

    targets: list[str]


class ModelAnswer(BaseModel):
    """What is known of a model."""

    name: str = Field(description="Of its run.")
    source: str
    target: str
    parameters: int | None
    pairs: int | None = Field(description="Of the training data.")
    step: int
    trained: str | None = Field(description="When: ISO 8601.")
    metric: str
    score: float | None = Field(description="In validation, by the metric; null if there was none.")
    licences: list[str] = Field(description="Of the training data, as far as known.")


class SettingsAnswer(BaseModel):
    """Settings that a web page needs."""

    charLimit: int
    sentenceLimit: int = Field(description="Maximum sentences of a request; not in LibreTranslate.")
    frontendTimeout: int = Field(default=500, description="Milliseconds to wait for further typing.")
    apiKeys: bool
    keyRequired: bool
    suggestions: bool = False
    filesTranslation: bool = True
    supportedFilesFormat: list[str]
    language: dict[str, NamedLanguage]


class FileAnswer(BaseModel):
    """URL of the translated document."""

    translatedFileUrl: str
    detected: str | None = Field(
        None, description="Its language, if that is surely another one; not in LibreTranslate."
    )


class AlignmentAnswer(BaseModel):
    """Alignment of a translation's words with the sentence's."""

    translation: str
    source_words: list[str]
    target_words: list[str]
    weights: list[list[float]]


class AlternativeTranslation(BaseModel):
    """A whole translation that begins with the prefix."""

    text: str
    score: float
    probability: float | None = Field(description="Of the token after the prefix; null without one.")


class AlternativesAnswer(BaseModel):
    """Translations, the most probable next token first."""

    alternatives: list[AlternativeTranslation]


class AttentionAnswer(BaseModel):
    """Attention weights by layer, [H][T][S]; row t of the decoder predicts ``written_pieces[t]``."""

    translation: str
    source_pieces: list[str]
    target_pieces: list[str]
    written_pieces: list[str]
    alignment_layer: int
    weights: dict[str, list[list[list[float]]]]


class ErrorAnswer(BaseModel):
    """An error."""

    error: str


class DeepLErrorAnswer(BaseModel):
    """An error of DeepL's routes."""

    message: str


_ERRORS = {
    400: "Invalid request",
    403: "Missing or unknown key",
    404: "Not found",
    408: "The request came too slowly",
    413: "The request is too large",
    429: "Too many requests with this key; see Retry-After",
    501: "Not available on this server",
    503: "Too busy, or took too long; see Retry-After",
}


def errors(*statuses: int, model: type[BaseModel] = ErrorAnswer) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for ``responses=``."""
    return {status: {"model": model, "description": _ERRORS[status]} for status in statuses}


def body_of(model: type[BaseModel], *, with_file: bool = False) -> dict[str, Any]:
    """The request of a route that reads its body itself, JSON or a form, for ``openapi_extra=``."""
    schema: dict[str, Any] = model.model_json_schema()
    for name, definition in schema.pop("$defs", {}).items():
        reference = json.dumps({"$ref": f"#/$defs/{name}"})
        schema = json.loads(json.dumps(schema).replace(reference, json.dumps(definition)))
    if with_file:
        schema["properties"]["file"] = {"type": "string", "format": "binary"}
        schema["required"] = ["file", *schema.get("required", [])]
    kinds = ["multipart/form-data"]
    if not with_file:
        kinds = ["application/json", "application/x-www-form-urlencoded", *kinds]
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}}
