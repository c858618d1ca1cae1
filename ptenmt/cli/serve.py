"""``ptenmt serve``.

Args:
    host: Address to listen on; 0.0.0.0: all interfaces.
    port: Port to listen on; 0: any free port.
    pivot: Chain two runs over a common language where there is no direct one.
    keys: Require an API key from this file.
    add_key: Do not serve: create a key for NAME, add its hash to --keys, and print the key.
    glossary: Terms and their translations, a pair a line, separated by a tab, which requests may name as
        the file without its ending; may be given several times.
    requests_per_minute: Maximum requests a minute of each key, unless the file of keys has another number for
        it; without keys, of each client's address.
    characters_per_day: Maximum characters a day, likewise.
    allowed_host: Answer only requests to this host, as in their Host header; may be given several times.
    allow_origin: Allow web pages of this origin (CORS), such as https://example.org, or * for all; may be
        given several times.
    url_prefix: The path of this server in URLs, such as /pt; default: what the proxy says.
    max_characters: Maximum characters per request.
    max_sentences: Maximum sentences per request.
    max_seconds: Maximum seconds per request.
    max_queue: Maximum sentences waiting, of all requests; further requests get 'try again later'.
    max_file: Maximum size of a document.
    log_format: json: on stderr a line of JSON for each request and message.
"""

import importlib.util
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, model_label, standard_output
from ptenmt.config import DecodingConfig
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.processes import available_cores
from ptenmt.runs import Choice, Run, find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.server.limits import Keys, Limits, add_key as make_key
from ptenmt.translation.glossary import Glossary

if TYPE_CHECKING:
    from ptenmt.server.models import Models

_DEFAULTS = Limits()
_PACKAGES = (
    "fastapi",
    "uvicorn",
    "h11",
    "python_multipart",
    "prometheus_client",
    "lxml",
    "markdown_it",
)
_access = partial(typer.Option, rich_help_panel="Address and access")
_limit = partial(typer.Option, rich_help_panel="Limits of a request")


def serve(
    screen: Screen,
    runs: options.RunsToServe = None,
    checkpoint: options.WhichWeights = "best",
    host: Annotated[str, _access(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, _access("--port", "-p", metavar="N", min=0, max=65_535)] = 5000,
    pivot: Annotated[bool, typer.Option("--pivot")] = False,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    beam_size: options.BeamSize = None,
    overrides: options.DecodingOverrides = None,
    keys: Annotated[Path | None, _access(metavar="FILE", show_default="no keys")] = None,
    add_key: Annotated[str | None, _access(metavar="NAME", show_default=False)] = None,
    glossary: Annotated[list[Path] | None, typer.Option(metavar="FILE", show_default="none")] = None,
    requests_per_minute: Annotated[int | None, _access(metavar="N", min=1, show_default="no limit")] = None,
    characters_per_day: Annotated[int | None, _access(metavar="N", min=1, show_default="no limit")] = None,
    allowed_host: Annotated[list[str] | None, _access(metavar="NAME", show_default="any")] = None,
    allow_origin: Annotated[list[str] | None, _access(metavar="URL", show_default="none")] = None,
    url_prefix: Annotated[str, _access(metavar="PATH", show_default=False)] = "",
    max_characters: Annotated[int, _limit(metavar="N", min=1)] = _DEFAULTS.characters,
    max_sentences: Annotated[int, _limit(metavar="N", min=1)] = _DEFAULTS.sentences,
    max_seconds: Annotated[float, _limit(metavar="SECONDS", min=0.001)] = _DEFAULTS.seconds,
    max_queue: Annotated[int, _limit(metavar="N", min=1)] = _DEFAULTS.queue,
    max_file: Annotated[float, _limit(metavar="MB", min=0.001)] = _DEFAULTS.file_megabytes,
    log_format: Annotated[Literal["text", "json"], typer.Option()] = "text",
) -> None:
    r"""Serve translations over HTTP, with LibreTranslate's API and a web page.

    Only this machine is served, unless --host is given. After SIGTERM or Ctrl-C, requests in progress are
    completed; after SIGHUP, keys and models are loaded again. Needs, in a clone of ptenmt,
    pip install '.\[serve]'; see docs/serving.md.

    Example: ptenmt serve --run base --port 8080

    Example: ptenmt serve --run pt-en --run en-pt

    Example: ptenmt serve --keys keys.txt --add-key alice
    """
    if add_key is not None:
        _print_new_key(keys, add_key)
        return
    _check_packages()
    from ptenmt.server.process import serve as run_server
    from ptenmt.server.service import Service

    say, warn = _speakers(screen, log_format)
    trained = _trained_models(runs, checkpoint, warn)
    decodings = _decodings(trained, overrides, beam_size)
    service = Service(
        _models(trained, decodings, checkpoint, device, threads, pivots=pivot),
        Limits(
            characters=max_characters,
            sentences=max_sentences,
            seconds=max_seconds,
            queue=max_queue,
            file_megabytes=max_file,
        ),
        Keys(keys, requests_per_minute, characters_per_day),
        threads=threads or available_cores(),
        glossaries={file.stem: Glossary.read(file) for file in glossary or ()},
    )
    run_server(
        service,
        host=host,
        port=port,
        origins=allow_origin or [],
        hosts=allowed_host or [],
        url_prefix=f"/{url_prefix.strip('/')}".rstrip("/"),
        is_verbose=screen.verbose,
        on_start=lambda url: say(_greeting(trained, url, allow_origin)),
        on_warning=warn,
    )
    say("stopped")


def _decodings(
    trained: Sequence[TrainedModel], overrides: list[str] | None, beam_size: int | None
) -> list[DecodingConfig]:
    """How to search with each model."""
    flags = {"beam_size": beam_size}
    return [options.chosen_decoding(model.config.decoding, overrides, flags) for model in trained]


def _models(
    trained: Sequence[TrainedModel],
    decodings: Sequence[DecodingConfig],
    checkpoint: Choice,
    device: str,
    threads: int | None,
    *,
    pivots: bool,
) -> "Models":
    """The models of a server, yet to be loaded."""
    from ptenmt.server.models import Models, direction_of_run

    directions = [
        direction_of_run(model, decoding, checkpoint, device=device, threads=threads)
        for model, decoding in zip(trained, decodings, strict=True)
    ]
    return Models(directions, pivots=pivots)


def _print_new_key(keys: Path | None, name: str) -> None:
    if keys is None:
        raise ConfigError("--add-key needs --keys FILE")
    with standard_output() as stream:
        stream.write(make_key(keys, name) + "\n")


def _speakers(screen: Screen, log_format: str) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """What prints messages and warnings: the screen, or the log if it is JSON; prepares the log."""
    from ptenmt.server.process import log_to_stderr

    log_to_stderr(is_json=log_format == "json", is_verbose=screen.verbose)
    if log_format == "text":
        return screen.say, screen.warn_loudly
    logger = logging.getLogger("ptenmt.server")
    return logger.info, logger.warning


def _check_packages() -> None:
    """Refuse an installation that lacks packages."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise PtenmtError(
                f"{package}, which serving needs, is not installed",
                "in a clone of ptenmt: pip install '.[serve]'",
            )


def _trained_models(
    names: Sequence[str] | None, checkpoint: Choice, warn: Callable[[str], None]
) -> list[TrainedModel]:
    """The runs with these names, or the default one."""
    runs: list[Run] = list(map(find_run, names or ())) or [find_run(task="translation")]
    return [
        TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=warn) for run in runs
    ]


def _greeting(models: Iterable[TrainedModel], url: str, origins: Sequence[str] | None) -> str:
    labels = (f"{' → '.join(model.config.data.languages)} with {model_label(model)}" for model in models)
    pages = f"other pages: {', '.join(origins or ['none; --allow-origin'])}"
    return f"{', '.join(labels)} at {url} ({pages}) — Ctrl-C stops the server"
