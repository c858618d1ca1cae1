"""How a request is refused."""

import math

from starlette.responses import JSONResponse

CLIENT_GONE = 499
"""The client disconnected before the response; the status that nginx logs."""


class Refusal(Exception):
    """A request is not answered as its client would like.

    Args:
        message: What is wrong, for the client.
        status: HTTP status code.
        retry_after: Seconds after which the client may try again; None if it need not.
    """

    def __init__(self, message: str, status: int = 400, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after

    def response(self) -> JSONResponse:
        """The response, in LibreTranslate's format."""
        headers = (
            {} if self.retry_after is None else {"retry-after": str(max(1, math.ceil(self.retry_after)))}
        )
        return JSONResponse({"error": self.message}, self.status, headers)


def shutting_down() -> Refusal:
    """The refusal of requests while the server stops."""
    return Refusal("the server is shutting down", 503, retry_after=10)
