"""From the bytes of a request to what it asks for."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from ptenmt.server.refusal import CLIENT_GONE, Refusal
from ptenmt.server.uploads import Upload

_MOST_FIELDS = 1_000
_PARTS, _FIELDS = "multipart/form-data", "application/x-www-form-urlencoded"
_Model = TypeVar("_Model", bound=BaseModel)
_Result = TypeVar("_Result")


async def read(request: Request, model: type[_Model]) -> _Model:
    """Read a request: JSON, a form, or, as some clients have it, the address.

    Raises:
        Refusal: It is none, or it does not say what it has to.
    """
    kind = _kind(request)
    try:
        if kind == _PARTS:
            async with opened_form(request) as form:
                return model.model_validate(_fields(form.multi_items(), model))
        body = await request.body()
        if kind == _FIELDS or not body:
            given = request.query_params.multi_items() + _form(body)
            return model.model_validate(_fields(given, model))
        return model.model_validate_json(body)
    except ValidationError as error:
        raise Refusal(_told(error)) from error


@asynccontextmanager
async def opened_form(request: Request) -> AsyncIterator[FormData]:
    """A form of several parts, whose files are closed in the end."""
    _kind(request)
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        yield form


async def read_upload(
    request: Request, model: type[_Model], most: int, upload: Upload
) -> tuple[_Model, str, bytes]:
    """Read a form with a document.

    Args:
        request: The request.
        model: What its other fields say.
        most: How many bytes the document may have.
        upload: Told what has come; what it raises ends the reading.

    Returns:
        What the other fields say, the document's name, and its content.

    Raises:
        Refusal: There is no document, it is too large, its key is wrong, or fields are missing.
    """
    async with _opened_upload(request, upload) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Refusal("file is missing: a document, in a form of the type multipart/form-data")
        content = await file.read(most + 1)
        if len(content) > most:
            raise Refusal(f"the document is larger than {most:,} bytes", 413)
        others = [(name, value) for name, value in form.multi_items() if name != "file"]
        try:
            return model.model_validate(_fields(others, model)), file.filename, content
        except ValidationError as error:
            raise Refusal(_told(error)) from error


@asynccontextmanager
async def _opened_upload(request: Request, upload: Upload) -> AsyncIterator[FormData]:
    """A form with a document, of which little is received without a key; its files are closed in the end."""
    if _kind(request) != _PARTS:
        yield FormData()
        return

    async def parts() -> AsyncGenerator[bytes, None]:
        async for part in request.stream():
            yield part
            upload.receive(len(part), str(dict(parser.items).get("api_key", "")))

    parser = MultiPartParser(request.headers, parts(), max_files=1, max_fields=_MOST_FIELDS)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise Refusal(error.message) from error
    try:
        yield form
    finally:
        await form.close()


def bearer(request: Request) -> str:
    """The key in a request's head; empty if there is none."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


async def answered(request: Request, work: Coroutine[Any, Any, _Result], seconds: float) -> _Result:
    """Wait for work, unless it takes too long, or nobody waits for its result any more.

    Args:
        request: The request that it is for, which is read already.
        work: It is cancelled if it is not waited for.
        seconds: How long it may take.

    Raises:
        Refusal: One of these.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise Refusal("the client is gone", CLIENT_GONE)
        raise Refusal(f"not done within {seconds:g} seconds", 503, retry_after=seconds)
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Wait until the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _kind(request: Request) -> str:
    """What a request's body is.

    Raises:
        Refusal: It is a form, and not in UTF-8. A client could name an encoding that fails, or one in which
            half of a letter can be written.
    """
    name, options = parse_options_header(request.headers.get("content-type"))
    kind = name.decode("latin-1")
    charset = options.get(b"charset", b"utf-8").lower()
    if kind in (_PARTS, _FIELDS) and charset not in (b"utf-8", b"utf8"):
        raise Refusal("a form has to be in UTF-8")
    return kind


def _form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except (UnicodeDecodeError, ValueError) as error:
        raise Refusal("the form is not UTF-8, or has too many fields") from error


def _fields(given: list[tuple[str, Any]], model: type[BaseModel]) -> dict[str, Any]:
    """Fields by name; a list where a field that may be one was given several times."""
    fields: dict[str, Any] = {}
    for name, value in given:
        if name in model.model_fields and isinstance(value, str):
            fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _told(error: ValidationError) -> str:
    """The first of the mistakes, in a line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {first['msg']}" if place else first["msg"]
