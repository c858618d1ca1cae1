"""``ptenmt serve``."""

import importlib.util
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, model_label, standard_output
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.processes import available_cores
from ptenmt.runs import Choice, find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.server.limits import Keys, Limits, add_key as make_key
from ptenmt.translation.safeguards.glossary import Glossary

if TYPE_CHECKING:
    from ptenmt.server.models import Direction

_DEFAULTS = Limits()
_PACKAGES = ["fastapi", "uvicorn", "h11", "python_multipart", "prometheus_client"]
_PACKAGES += ["lxml", "docx", "pptx", "srt"]
_access = partial(typer.Option, rich_help_panel="Address and access")
_limit = partial(typer.Option, rich_help_panel="Limits of a request")


_Host = Annotated[
    str, _access("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0: all interfaces.")
]
_Port = Annotated[
    int, _access("--port", "-p", metavar="N", min=0, max=65_535, help="Port to listen on; 0: any free port.")
]
_Pivot = Annotated[
    bool, typer.Option("--pivot", help="Chain two runs over a common language where there is no direct one.")
]
_Watch = Annotated[
    bool, typer.Option("--watch", help="Load a model again when training has found a better one.")
]
_MaxMemory = Annotated[
    float | None,
    typer.Option(
        "--max-memory",
        metavar="MB",
        min=1,
        show_default="no limit",
        help="Most memory of loaded models; the least recently used are unloaded.",
    ),
]
_ServeKeys = Annotated[
    Path | None,
    _access("--keys", metavar="FILE", show_default="no keys", help="Require an API key from this file."),
]
_AddKey = Annotated[
    str | None,
    _access(
        "--add-key",
        metavar="NAME",
        show_default=False,
        help="Do not serve: create a key for NAME, add its hash to --keys, and print the key.",
    ),
]
_Glossaries = Annotated[
    list[Path] | None,
    typer.Option(
        "--glossary",
        metavar="FILE",
        show_default="none",
        help=(
            "Terms and their translations, a pair a line, separated by a tab, which requests may "
            "name as the file without its ending; may be given several times."
        ),
    ),
]
_RequestsPerMinute = Annotated[
    int | None,
    _access(
        "--requests-per-minute",
        metavar="N",
        min=1,
        show_default="no limit",
        help=("Maximum requests a minute of each key, unless the file of keys has another number for it."),
    ),
]
_Hosts = Annotated[
    list[str] | None,
    _access(
        "--allowed-host",
        metavar="NAME",
        show_default="any",
        help=("Answer only requests to this host, as in their Host header; may be given several times."),
    ),
]
_Origins = Annotated[
    list[str] | None,
    _access(
        "--allow-origin",
        metavar="URL",
        show_default="none",
        help=(
            "Allow web pages of this origin (CORS), such as https://example.org, or * for all; "
            "may be given several times."
        ),
    ),
]
_UrlPrefix = Annotated[
    str,
    _access(
        "--url-prefix",
        metavar="PATH",
        show_default=False,
        help="The path of this server in URLs, such as /pt; default: what the proxy says.",
    ),
]
_MaxCharacters = Annotated[int, _limit(metavar="N", min=1, help="Maximum characters per request.")]
_MaxSentences = Annotated[int, _limit(metavar="N", min=1, help="Maximum sentences per request.")]
_MaxSeconds = Annotated[float, _limit(metavar="SECONDS", min=0.001, help="Maximum seconds per request.")]
_MaxQueue = Annotated[
    int,
    _limit(
        metavar="N",
        min=1,
        help="Maximum sentences waiting, of all requests; further requests get 'try again later'.",
    ),
]
_MaxFile = Annotated[float, _limit(metavar="MB", min=0.001, help="Maximum size of a document.")]
_LogFormat = Annotated[
    Literal["text", "json"],
    typer.Option("--log-format", help="json: on stderr a line of JSON for each request and message."),
]


def serve(
    screen: Screen,
    runs: options.RunsToServe = None,
    checkpoint: options.WhichWeights = "best",
    host: _Host = "127.0.0.1",
    port: _Port = 5000,
    pivot: _Pivot = False,
    watch: _Watch = False,
    max_memory: _MaxMemory = None,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    beam_size: options.BeamSize = None,
    overrides: options.DecodingOverrides = None,
    keys: _ServeKeys = None,
    add_key: _AddKey = None,
    glossaries: _Glossaries = None,
    requests_per_minute: _RequestsPerMinute = None,
    hosts: _Hosts = None,
    origins: _Origins = None,
    url_prefix: _UrlPrefix = "",
    max_characters: _MaxCharacters = _DEFAULTS.characters,
    max_sentences: _MaxSentences = _DEFAULTS.sentences,
    max_seconds: _MaxSeconds = _DEFAULTS.seconds,
    max_queue: _MaxQueue = _DEFAULTS.queue,
    max_file: _MaxFile = _DEFAULTS.file_megabytes,
    log_format: _LogFormat = "text",
) -> None:
    r"""Serve translations over HTTP, with LibreTranslate's API and a web page.

    Only this machine is served, unless --host is given. After SIGTERM or Ctrl-C, requests in progress are
    completed; after SIGHUP, keys and models are loaded again. Needs pip install 'ptenmt\[serve]'; see
    docs/serving.md.

    Example: ptenmt serve --run base --port 8080

    Example: ptenmt serve --run pt-en --run en-pt

    Example: ptenmt serve --keys keys.txt --add-key alice
    """
    if add_key is not None:
        _print_new_key(keys, add_key)
        return
    _check(keys, requests_per_minute)
    from ptenmt.server.models import Models
    from ptenmt.server.process import log_to_stderr, serve as run_server
    from ptenmt.server.service import Service

    log_to_stderr(is_json=log_format == "json", is_verbose=screen.verbose)
    say, warn = _speakers(screen, log_format)
    limits = Limits(
        characters=max_characters,
        sentences=max_sentences,
        seconds=max_seconds,
        queue=max_queue,
        file_megabytes=max_file,
    )
    loading = _Loading(checkpoint, device, threads or available_cores(), beam_size, overrides)
    directions, labels = loading.directions(runs, warn)
    max_bytes = math.inf if max_memory is None else 1_000_000 * max_memory
    service = Service(
        Models(directions, max_bytes=max_bytes, pivots=pivot),
        limits,
        Keys(keys, requests_per_minute),
        threads=loading.threads,
        glossaries={file.stem: Glossary.read(file) for file in glossaries or ()},
    )
    pages = f"other pages: {', '.join(origins or ['none; --allow-origin'])}"
    run_server(
        service,
        host=host,
        port=port,
        origins=origins or [],
        hosts=hosts or [],
        url_prefix=f"/{url_prefix.strip('/')}".rstrip("/"),
        watches=watch,
        is_verbose=screen.verbose,
        on_start=lambda url: say(f"{', '.join(labels)} at {url} ({pages}) — Ctrl-C stops the server"),
        on_warning=warn,
    )
    say("stopped")


def _print_new_key(keys: Path | None, name: str) -> None:
    if keys is None:
        raise ConfigError("--add-key needs --keys FILE")
    with standard_output() as stream:
        stream.write(make_key(keys, name) + "\n")


def _speakers(screen: Screen, log_format: str) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """What prints messages and warnings: the screen, or the log if it is JSON."""
    if log_format == "text":
        return screen.say, screen.warn_loudly
    logger = logging.getLogger("ptenmt.server")
    return logger.info, logger.warning


def _check(keys: Path | None, requests_per_minute: int | None) -> None:
    """Refuse options that need others, and an installation that lacks packages."""
    if requests_per_minute and keys is None:
        raise ConfigError("--requests-per-minute needs --keys FILE")
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise PtenmtError(
                f"{package}, which serving needs, is not installed",
                "in a clone of ptenmt: pip install '.[serve]'",
            )


@dataclass(frozen=True)
class _Loading:
    """How to load the runs."""

    checkpoint: Choice
    device: str
    threads: int
    beam_size: int | None
    overrides: list[str] | None

    def directions(
        self, names: list[str] | None, warn: Callable[[str], None]
    ) -> tuple[list["Direction"], list[str]]:
        """The directions of the named runs, and what to call their models."""
        from ptenmt.server.models import direction_of_run

        directions, labels = [], []
        for run in [find_run(name) for name in names or ()] or [find_run(task="translation")]:
            flags = {"beam_size": self.beam_size}
            decoding = options.chosen_decoding(run.config().decoding, self.overrides, flags)
            trained = TrainedModel.load(run, checkpoint=self.checkpoint, task="translation", on_warning=warn)
            directions.append(
                direction_of_run(trained, decoding, self.checkpoint, device=self.device, threads=self.threads)
            )
            labels.append(f"{' → '.join(trained.config.data.languages)} with {model_label(trained)}")
        return directions, labels
