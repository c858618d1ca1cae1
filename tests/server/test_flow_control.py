"""What the bound on pipelined requests needs of uvicorn; test_limits.py tries the bound itself."""

import inspect

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from ptenmt.server.flow_control import BoundedProtocol

USES = ("self.flow = FlowControl(transport)", "self.conn = h11.Connection(", "self.flow.resume_reading()")


def test_uvicorn_has_the_names_that_the_bound_depends_on() -> None:
    made = inspect.getsource(H11Protocol)
    for use in USES:
        assert use in made, f"uvicorn has changed: look at {BoundedProtocol.__module__}"
    assert list(inspect.signature(FlowControl.__init__).parameters) == ["self", "transport"]
