"""Connections that do not wait for ever.

uvicorn waits for the rest of a request's head as long as the client likes, however long it becomes, and for a
client that does not read its answer; whoever has many such connections, or one very long head, takes
connections or memory from the others.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""For the head of a request, from the connection's opening or from its first byte on."""
HEAD_BYTES = 100_000
"""Of a request's head, or of what follows a body in parts; some packets more are not noticed."""
STALLED_SECONDS = 30.0
"""For an answer that the client does not read."""


class PatientConnection(HttpToolsProtocol):
    """An HTTP/1.1 connection whose patience ends."""

    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _num_kept = 0
    """Bytes of a head that are kept until it is complete."""

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a head, for which there is so much time, or what is left of a body that was refused."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        self._num_kept += len(data)
        super().data_received(data)
        if self._num_kept > HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._stop_waiting()
        self._num_kept = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body is there."""
        self._num_kept = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._num_kept = 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read as fast as it is written to."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads on."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _refuse_head(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.send_400_response("The head of the request is too large.")
        else:
            self.transport.abort()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
