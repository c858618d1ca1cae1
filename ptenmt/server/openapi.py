"""What the routes say of themselves in the OpenAPI document."""

from typing import Any

from pydantic import BaseModel

from ptenmt.server.schemas import ErrorAnswer

_MEANINGS = {
    400: "The request is wrong",
    403: "The key is missing or wrong",
    404: "There is no such thing",
    408: "The request came too slowly",
    413: "The request is too large",
    501: "What that needs is not there",
    503: "Too busy, or too slow: Retry-After tells when to come again",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route answers with."""
    return {status: {"model": ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}


def body_of(model: type[BaseModel], *, with_file: bool = False) -> dict[str, Any]:
    """A request that is read as JSON or as a form; with a document, as a form only.

    Args:
        model: Its fields.
        with_file: Whether there is a document too.
    """
    schema: dict[str, Any] = model.model_json_schema()
    if with_file:
        schema["properties"]["file"] = {"type": "string", "format": "binary"}
        schema["required"] = ["file", *schema.get("required", [])]
    kinds = ["multipart/form-data"]
    if not with_file:
        kinds = ["application/json", "application/x-www-form-urlencoded", *kinds]
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema} for kind in kinds}}}
