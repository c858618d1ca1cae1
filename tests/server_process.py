"""``ptenmt serve`` as a process of its own, which ends with the test."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(command: Sequence[str], *options: str, **given: Any) -> Iterator[tuple[Any, str]]:
    """A server of a command that is ptenmt, at a free port, and its address."""
    pipes: dict[str, Any] = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, "serve", "--port", "0", *options], **pipes, **given) as process:
        try:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"at (http://\S+)", said)) or "→" not in said:
                line = process.stderr.readline()
                assert line, said
                said += line
            yield process, found[1]
        finally:
            process.kill()
