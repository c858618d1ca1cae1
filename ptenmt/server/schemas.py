"""Requests and answers: their fields, which are LibreTranslate's in its routes, and how requests are read."""

import codecs
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile

from ptenmt.server.limits import Refusal

_MAX_FIELDS = 1_000
_MULTIPART, _URL_ENCODED = "multipart/form-data", "application/x-www-form-urlencoded"
_Model = TypeVar("_Model", bound=BaseModel)
Language = Annotated[str, Field(min_length=1, max_length=35)]
Source = Annotated[Language, Field(description="Language code, or auto.", examples=["pt"])]
Target = Annotated[Language, Field(description="Language code.", examples=["en"])]
Format = Annotated[Literal["text", "html"], BeforeValidator(lambda given: given or "text")]


class WithKey(BaseModel):
    """A request with an API key."""

    api_key: str | None = Field("", description="If the server requires one; or send it as a bearer token.")


class DetectRequest(WithKey):
    """Texts whose language to detect."""

    q: str | list[str] = Field(description="One text or a list.", examples=["Ela não tem tempo."])

    @property
    def texts(self) -> list[str]:
        """The texts as a list."""
        return [self.q] if isinstance(self.q, str) else self.q


class FileRequest(WithKey):
    """The fields sent with a document."""

    source: Source
    target: Target
    glossary: str | None = Field("", description="Name of one of the server's glossaries; default: none.")


class TranslateRequest(FileRequest, DetectRequest):
    """Texts to translate."""

    format: Format = "text"
    alternatives: Annotated[
        int, BeforeValidator(lambda given: given or 0), AfterValidator(lambda given: max(given, 0))
    ] = Field(0, le=5, description="Number of alternative translations of each text.")


class DeepLRequest(TranslateRequest):
    """Texts to translate, in DeepL's fields."""

    q: str | list[str] = Field(validation_alias="text", examples=["Olá."])
    target: Target = Field(validation_alias="target_lang")
    source: Annotated[Source, BeforeValidator(lambda given: given or "auto")] = Field(
        "auto", validation_alias="source_lang"
    )
    format: Format = Field("text", validation_alias="tag_handling")
    glossary: str | None = Field("", validation_alias="glossary_id", description="Name of a glossary.")


class DeepLLanguagesRequest(WithKey):
    """Which languages to list."""

    type: Literal["source", "target"] = "source"


class SentenceRequest(WithKey):
    """A sentence, and what is asked about its translation."""

    q: str = Field(examples=["Ela não tem tempo."])
    source: Language | None = Field(None, description="Language code; default: of the first model.")
    target: Language | None = Field(None, description="Language code; default: of the first model.")
    prefix: str = Field("", description="Target prefix; not for attention.")
    count: int = Field(5, ge=1, le=10, description="Number of next-token alternatives.")
    translation: str | None = Field(None, description="For attention; default: the model's.")


class Detection(BaseModel):
    """A language that a text may be in, and how likely."""

    language: str
    confidence: float = Field(description="In percent.")


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": HTTPStatus(status).phrase} for status in (400, 403, 404, 408, 413, 429, 501, 503)
}
"""The errors of all routes: ``{"error": …}``, or on DeepL's routes ``{"message": …}``."""


def body_of(model: type[BaseModel], *, with_file: bool = False) -> dict[str, Any]:
    """The request of a route that reads its body itself, JSON or a form, for ``openapi_extra=``."""
    schema: dict[str, Any] = model.model_json_schema()
    if with_file:
        schema["properties"]["file"] = {"type": "string", "format": "binary"}
        schema["required"] = ["file", *schema.get("required", [])]
    kinds = [_MULTIPART] if with_file else ["application/json", _URL_ENCODED, _MULTIPART]
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}}


async def read(request: Request, model: type[_Model]) -> _Model:
    """Read a request: JSON, a form, or the query string, which some clients use; refuses invalid fields."""
    content_type = _content_type(request)
    if content_type == _MULTIPART:
        async with request.form(max_files=1, max_fields=_MAX_FIELDS) as form:
            return _validated(form.multi_items(), model)
    body = await request.body()
    if content_type == _URL_ENCODED or not body:
        try:  # unlike Starlette's parser, it takes letters that are not percent-encoded
            text = b"&".join(filter(None, (request.scope["query_string"], body))).decode()
            fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
        except ValueError as error:
            raise Refusal("the form or the query string is not UTF-8, or has too many fields") from error
        return _validated(fields, model)
    try:
        return model.model_validate_json(body.removeprefix(codecs.BOM_UTF8))
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid" and "json" not in content_type:
            raise Refusal(
                f"the body is {content_type or 'of no type'}: send application/json or a form"
            ) from error
        raise Refusal(_first_error(error)) from error


async def read_upload(request: Request, model: type[_Model], max_bytes: int) -> tuple[_Model, str, bytes]:
    """Read a form: its fields, and the name and content of its document; refuses as ``read`` does."""
    if _content_type(request) != _MULTIPART:
        raise Refusal(f"file is missing: send a document in a form of type {_MULTIPART}")
    async with request.form(max_files=1, max_fields=_MAX_FIELDS) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Refusal("file is missing: a document with a file name")
        content = await file.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise Refusal(f"the document is larger than {max_bytes:,} bytes", 413)
        return _validated(form.multi_items(), model), file.filename, content


def _content_type(request: Request) -> str:
    """The media type of the body; refuses forms not in UTF-8, whose encoding could fail to decode."""
    name, options = parse_options_header(request.headers.get("content-type"))
    content_type = name.decode("latin-1")
    charset = options.get(b"charset", b"utf-8").lower()
    if content_type in (_MULTIPART, _URL_ENCODED) and charset not in (b"utf-8", b"utf8"):
        raise Refusal("a form must be in UTF-8")
    return content_type


def _validated(items: list[tuple[str, Any]], model: type[_Model]) -> _Model:
    """The fields of a form; a field that occurs several times is a list."""
    fields: dict[str, Any] = {}
    for name, value in items:
        if isinstance(value, str):
            fields.setdefault(name, []).append(value.replace("\r\n", "\n"))  # browsers send CRLF
    try:
        given = {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
        return model.model_validate(given)
    except ValidationError as error:
        raise Refusal(_first_error(error)) from error


def _first_error(error: ValidationError) -> str:
    """The first of the errors, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "missing":
        return f"Invalid request: missing {field} parameter"  # LibreTranslate's words
    if field == "q" and len(first["loc"]) > 1:
        return "q: Input should be a text or a list of texts"
    return f"{field}: {first['msg']}" if field else first["msg"]
