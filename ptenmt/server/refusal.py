"""How a request is refused."""

import math

CLIENT_GONE = 499
"""What nginx notes where a client did not wait for its answer; nobody ever sees it."""


class Refusal(Exception):
    """A request that is not answered as its client would like.

    Args:
        message: What is wrong, for the client.
        status: HTTP status code.
        retry_after: After how many seconds the client may try again; None: as it is, never.
    """

    def __init__(self, message: str, status: int = 400, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """What the answer's head says of it."""
        return {} if self.retry_after is None else {"Retry-After": str(max(1, math.ceil(self.retry_after)))}

    @property
    def body(self) -> dict[str, str]:
        """What the answer says, in LibreTranslate's shape."""
        return {"error": self.message}
