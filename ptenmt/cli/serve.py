"""``ptenmt serve``."""

import importlib.util
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, standard_output
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.runs import find_run
from ptenmt.server.limits import Limits
from ptenmt.translation.ctranslate2_engine import available_cores

_DEFAULTS = Limits()


def _access(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel="Address and access", **settings)


def _limit(flag: str, unit: str, minimum: float, description: str) -> Any:
    return typer.Option(
        flag, metavar=unit, min=minimum, help=description, rich_help_panel="Limits of a request"
    )


def serve(
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    host: Annotated[
        str, _access("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0: all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        _access("--port", "-p", metavar="N", min=0, max=65_535, help="Port to listen on; 0: any free port."),
    ] = 5000,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    beam_size: options.BeamSize = None,
    overrides: options.DecodingOverrides = None,
    keys: Annotated[
        Path | None,
        _access("--keys", metavar="FILE", help="Require an API key from this file.", show_default="no keys"),
    ] = None,
    add_key: Annotated[
        str | None,
        _access(
            "--add-key",
            metavar="NAME",
            help="Do not serve: create a key for NAME, add its hash to --keys, and print the key.",
            show_default=False,
        ),
    ] = None,
    origins: Annotated[
        list[str] | None,
        _access(
            "--allow-origin",
            metavar="URL",
            help="Allow web pages of this origin (CORS), such as https://example.org, or * for all; may be "
            "given several times.",
            show_default="none",
        ),
    ] = None,
    max_characters: Annotated[
        int, _limit("--max-characters", "N", 1, "Maximum characters per request.")
    ] = _DEFAULTS.characters,
    max_sentences: Annotated[
        int, _limit("--max-sentences", "N", 1, "Maximum sentences per request.")
    ] = _DEFAULTS.sentences,
    max_seconds: Annotated[
        float, _limit("--max-seconds", "SECONDS", 0.001, "Maximum seconds per request.")
    ] = _DEFAULTS.seconds,
    max_queue: Annotated[
        int,
        _limit(
            "--max-queue",
            "N",
            1,
            "Maximum sentences waiting, of all requests; further requests get 'try again later'.",
        ),
    ] = _DEFAULTS.queue,
    max_file: Annotated[
        float, _limit("--max-file", "MB", 0.001, "Maximum size of a document.")
    ] = _DEFAULTS.file_megabytes,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    r"""Serve translations over HTTP, with LibreTranslate's API and a web page.

    Only this machine is served, unless --host is given. After SIGTERM or Ctrl-C, requests in progress are
    completed. Needs pip install 'ptenmt\[serve]'; see docs/serving.md.

    Example: ptenmt serve --run base --port 8080

    Example: ptenmt serve --keys keys.txt --add-key alice
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    if add_key is not None:
        _add_key(keys, add_key)
        return
    _check_installed()
    from ptenmt.model.numpy_transformer import NumpyTransformer
    from ptenmt.server import process
    from ptenmt.server.app import make_app
    from ptenmt.server.keys import Keys
    from ptenmt.server.service import Service
    from ptenmt.trained_model import TrainedModel
    from ptenmt.translation import Translator

    known = Keys() if keys is None else Keys.read(keys)
    limits = Limits(
        characters=max_characters,
        sentences=max_sentences,
        seconds=max_seconds,
        queue=max_queue,
        file_megabytes=max_file,
    )
    found = find_run(run)
    changes = options.decoding_overrides(overrides or [], beam_size=beam_size)
    decoding = options.chosen_decoding(found.config().decoding, changes, {"beam_size": "--beam-size"})
    threads = threads or available_cores()
    trained = TrainedModel.load(found, checkpoint=checkpoint, task="translation", on_warning=screen.warn)
    translator = Translator.of(trained, "ctranslate2", device=device, threads=threads)
    service = Service(
        translator.with_options(**asdict(decoding)),
        lambda: NumpyTransformer(trained.config.model, trained.weights),
        limits,
        known,
        threads=threads,
    )
    bound = process.bound_socket(host, port)
    address = process.address_of(bound)
    if not process.is_loopback(bound) and not known.are_required:
        screen.warn_loudly(
            f"ANYBODY who can reach {address} can use this server, since --keys is not given. "
            "Require keys, or put it behind a reverse proxy that authenticates (docs/serving.md)"
        )
    direction = f"{service.source_language} → {service.target_language}"
    server = process.make_server(
        make_app(service, origins=origins or []),
        is_verbose=screen.verbose,
        on_start=lambda: screen.say(f"{direction} at {address} — Ctrl-C stops the server"),
    )
    process.run(server, bound)
    screen.say("stopped")


def _add_key(keys: Path | None, name: str) -> None:
    """Create a key and print it."""
    if keys is None:
        raise ConfigError("--add-key needs --keys FILE")
    from ptenmt.server.keys import add_key

    with standard_output() as stream:
        stream.write(add_key(keys, name) + "\n")


def _check_installed() -> None:
    for package in (
        "fastapi",
        "uvicorn",
        "h11",
        "python_multipart",
        "prometheus_client",
        "lxml",
        "docx",
        "srt",
    ):
        if importlib.util.find_spec(package) is None:
            raise PtenmtError(
                f"{package}, which serving needs, is not installed",
                "in a clone of ptenmt: pip install '.[serve]'",
            )
