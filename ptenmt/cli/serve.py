"""``ptenmt serve``."""

import importlib.util
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.cli.console import Screen, standard_output
from ptenmt.cli.options import (
    BeamSize,
    DecodingOverrides,
    Device,
    Quiet,
    RunName,
    Threads,
    Verbose,
    WhichWeights,
    decoding_overrides,
)
from ptenmt.cli.serving_options import (
    AddKey,
    Host,
    KeyFile,
    MaxCharacters,
    MaxFile,
    MaxQueue,
    MaxSeconds,
    MaxSentences,
    Origins,
    Port,
)
from ptenmt.cli.translation_options import chosen_decoding
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.processes import available_cores
from ptenmt.runs import find_run
from ptenmt.server.limits import Limits

if TYPE_CHECKING:
    from ptenmt.model.numpy_transformer import NumpyTransformer
    from ptenmt.translation import Translator

_DEFAULTS = Limits()


def serve(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    host: Host = "127.0.0.1",
    port: Port = 5000,
    device: Device = "cpu",
    threads: Threads = None,
    beam_size: BeamSize = None,
    overrides: DecodingOverrides = None,
    keys: KeyFile = None,
    add_key: AddKey = None,
    origins: Origins = None,
    max_characters: MaxCharacters = _DEFAULTS.characters,
    max_sentences: MaxSentences = _DEFAULTS.sentences,
    max_seconds: MaxSeconds = _DEFAULTS.seconds,
    max_queue: MaxQueue = _DEFAULTS.queue,
    max_file: MaxFile = _DEFAULTS.file_megabytes,
    quiet: Quiet = False,
    verbose: Verbose = False,
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
    from ptenmt.trained_model import TrainedModel
    from ptenmt.translation import Translator

    found = find_run(run)
    limits = Limits(
        characters=max_characters,
        sentences=max_sentences,
        seconds=max_seconds,
        queue=max_queue,
        file_megabytes=max_file,
    )
    changes = decoding_overrides(overrides or [], beam_size=beam_size)
    decoding = chosen_decoding(found.config().decoding, changes, {"beam_size": "--beam-size"})
    threads = threads or available_cores()
    trained = TrainedModel.load(found, checkpoint=checkpoint, task="translation", on_warning=screen.warn)
    translator = Translator.of(trained, "ctranslate2", device=device, threads=threads)
    _run(
        translator.with_options(**asdict(decoding)),
        lambda: NumpyTransformer(trained.config.model, trained.weights),
        limits,
        screen,
        threads=threads,
        keys=keys,
        origins=origins or [],
        host=host,
        port=port,
    )


def _run(
    translator: "Translator",
    load_model: "Callable[[], NumpyTransformer]",
    limits: Limits,
    screen: Screen,
    *,
    threads: int,
    keys: Path | None,
    origins: list[str],
    host: str,
    port: int,
) -> None:
    """Serve until a signal ends the process."""
    from ptenmt.server.app import make_app
    from ptenmt.server.keys import Keys
    from ptenmt.server.process import address_of, bound_socket, is_loopback, make_server
    from ptenmt.server.process import run as run_server
    from ptenmt.server.service import Service

    known = Keys() if keys is None else Keys.read(keys)
    service = Service(translator, load_model, limits, known, threads=threads)
    bound = bound_socket(host, port)
    if not is_loopback(bound) and not known.are_required:
        screen.warn_loudly(
            f"ANYBODY who can reach {address_of(bound)} can use this server, since --keys is not given. "
            "Require keys, or put it behind a reverse proxy that authenticates (docs/serving.md)"
        )
    direction = f"{service.source_language} → {service.target_language}"
    server = make_server(
        make_app(service, origins=origins),
        is_verbose=screen.verbose,
        on_start=lambda: screen.say(f"{direction} at {address_of(bound)} — Ctrl-C stops the server"),
    )
    run_server(server, bound)
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
        "multipart",
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
