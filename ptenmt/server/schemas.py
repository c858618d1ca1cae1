"""The shapes of requests and answers; those of LibreTranslate's routes are its own."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Text = Annotated[str, Field(examples=["Ela não tem tempo."])]
Language = Annotated[str, Field(min_length=1, max_length=35)]


class Keyed(BaseModel):
    """A request that may need a key."""

    api_key: str | None = Field("", description="If the server asks for one; or as a bearer token.")


class TranslateRequest(Keyed):
    """What is to be translated."""

    q: str | list[str] = Field(description="A text or several.", examples=["Ela não tem tempo."])
    source: Language = Field(description="Language code, or auto.", examples=["pt"])
    target: Language = Field(description="Language code.", examples=["en"])
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(0, ge=0, le=5, description="How many other translations of each text.")


class DetectRequest(Keyed):
    """Texts whose language is asked for."""

    q: str | list[str] = Field(description="A text or several.", examples=["Ela não tem tempo."])


class AlignmentRequest(Keyed):
    """A sentence to be translated, and told word by word."""

    q: Text
    prefix: str = Field("", description="What its translation is to begin with.")


class BranchesRequest(Keyed):
    """The beginning of a translation, to be gone on with."""

    q: Text
    prefix: str = Field("", description="The beginning of its translation.")
    count: int = Field(5, ge=1, le=10, description="How many ways to go on.")


class AttentionRequest(Keyed):
    """A sentence to look into."""

    q: Text
    translation: str | None = Field(None, description="Its translation; by default the model's own.")


class FileRequest(Keyed):
    """What goes with a document."""

    source: Language = Field(description="Language code, or auto.", examples=["pt"])
    target: Language = Field(description="Language code.", examples=["en"])


class Detection(BaseModel):
    """A language that a text may be in."""

    language: str
    confidence: float = Field(description="In per cent.")


class TranslateAnswer(BaseModel):
    """Translations: lists where q was one."""

    translatedText: str | list[str]
    detectedLanguage: Detection | list[Detection] | None = Field(None, description="Where source was auto.")
    alternatives: list[str] | list[list[str]] | None = Field(None, description="Where some were asked for.")


class LanguageAnswer(BaseModel):
    """A language, and what it is translated into."""

    code: str
    name: str
    targets: list[str]


class NamedLanguage(BaseModel):
    """A language."""

    code: str
    name: str


class Direction(BaseModel):
    """From which language into which."""

    source: NamedLanguage
    target: NamedLanguage


class SettingsAnswer(BaseModel):
    """What a page has to know of the server."""

    charLimit: int
    sentenceLimit: int = Field(description="The most sentences of a request; LibreTranslate tells no such.")
    frontendTimeout: int = Field(description="Milliseconds to wait for more typing.")
    apiKeys: bool
    keyRequired: bool
    suggestions: bool
    filesTranslation: bool
    supportedFilesFormat: list[str]
    language: Direction


class FileAnswer(BaseModel):
    """Where the translated document is."""

    translatedFileUrl: str


class AlignmentAnswer(BaseModel):
    """Which words of a sentence each word of its translation comes from."""

    translation: str
    source_words: list[str]
    target_words: list[str]
    weights: list[list[float]]


class Branch(BaseModel):
    """How a translation may go on: all of it."""

    text: str
    score: float


class BranchesAnswer(BaseModel):
    """The ways in which a translation may go on, likeliest first."""

    branches: list[Branch]


class AttentionAnswer(BaseModel):
    """Who attends to whom: by name [H][T][S], the attending pieces in rows."""

    translation: str
    source_pieces: list[str]
    target_pieces: list[str]
    weights: dict[str, list[list[list[float]]]]


class StatusAnswer(BaseModel):
    """How the server is."""

    status: str


class ErrorAnswer(BaseModel):
    """What is wrong."""

    error: str
