"""Reading requests, and answering them in time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.requests import Request

from ptenmt.server.limits import CLIENT_GONE, Refusal

_MAX_FIELDS = 1_000
_MULTIPART, _URL_ENCODED = "multipart/form-data", "application/x-www-form-urlencoded"
_Model = TypeVar("_Model", bound=BaseModel)
_Result = TypeVar("_Result")


async def read(request: Request, model: type[_Model]) -> _Model:
    """Read a request: JSON, a form, or the query string, which some clients use; refuses invalid fields."""
    content_type = _content_type(request)
    if content_type == _MULTIPART:
        async with request.form(max_files=1, max_fields=_MAX_FIELDS) as form:
            return _validated(form.multi_items(), model)
    body = await request.body()
    if content_type == _URL_ENCODED or not body:
        try:  # unlike Starlette's parser, it takes letters that are not percent-encoded
            text = body.decode()
            fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
        except ValueError as error:
            raise Refusal("the form is not UTF-8, or has too many fields") from error
        return _validated(request.query_params.multi_items() + fields, model)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
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


def bearer_token(request: Request) -> str:
    """The key in the Authorization header, else in the query string; empty without one."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    is_key = scheme.lower() in ("bearer", "deepl-auth-key")
    return key.strip() if is_key else request.query_params.get("api_key", "")


async def answer_in_time(request: Request, work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
    """Await work; refuse it if it takes too long or the client, whose body is read, disconnects."""

    async def disconnection() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({task, disconnected}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if disconnected.done():
            raise Refusal("the client is gone", CLIENT_GONE)
        raise Refusal(f"not done within {seconds:g} seconds", 503, retry_after=seconds)
    finally:
        disconnected.cancel()
        task.cancel()
        await asyncio.gather(task, disconnected, return_exceptions=True)


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
