"""``ptenmt serve``.

Args:
    host: Address to listen on; 0.0.0.0: all interfaces.
    port: Port to listen on; 0: any free port.
    keys: Require an API key from this file.
    add_key: Do not serve: create a key for NAME, add its hash to --keys, and print the key.
    glossary: Terms and their translations, a pair a line, separated by a tab, which requests may name as
        the file without its ending; may be given several times.
    limit: A limit of requests, such as characters=9000, file_megabytes=2 or requests_per_minute=60; may be
        given several times. docs/serving.md lists them all.
    allow_origin: Allow web pages of this origin (CORS), such as https://example.org, or * for all; may be
        given several times.
    url_prefix: The path of this server in URLs behind a proxy, such as /pt.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, model_label, standard_output
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.processes import available_cores
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation.glossary import Glossary

_access = partial(typer.Option, rich_help_panel="Address and access")


def serve(
    screen: Screen,
    runs: options.RunNames = None,
    checkpoint: options.WhichWeights = "best",
    host: Annotated[str, _access(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, _access("--port", "-p", metavar="N", min=0, max=65_535)] = 5000,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    overrides: options.DecodingOverrides = None,
    keys: Annotated[Path | None, _access(metavar="FILE", show_default="no keys")] = None,
    add_key: Annotated[str | None, _access(metavar="NAME", show_default=False)] = None,
    glossary: Annotated[list[Path] | None, typer.Option(metavar="FILE", show_default="none")] = None,
    limit: Annotated[list[str] | None, _access(metavar="NAME=NUMBER", show_default=False)] = None,
    allow_origin: Annotated[list[str] | None, _access(metavar="URL", show_default="none")] = None,
    url_prefix: Annotated[str, _access(metavar="PATH", show_default=False)] = "",
) -> None:
    r"""Serve translations over HTTP, with LibreTranslate's API and a web page.

    Only this machine is served, unless --host is given. After SIGTERM or Ctrl-C, requests in progress are
    completed; after SIGHUP, keys and models are loaded again. --verbose logs each request. Needs, in a clone
    of ptenmt, pip install '.\[serve]'; see docs/serving.md.

    Example: ptenmt serve --run base --port 8080

    Example: ptenmt serve --run pt-en --run en-pt --limit characters=9000

    Example: ptenmt serve --keys keys.txt --add-key alice
    """
    try:
        from ptenmt.server.limits import Keys, Limits, add_key as make_key
        from ptenmt.server.models import Models, direction_of_run
        from ptenmt.server.process import log_to_stderr, serve as run_server
        from ptenmt.server.service import Service
    except ModuleNotFoundError as error:
        raise PtenmtError(
            f"{error.name}, which serving needs, is not installed",
            "in a clone of ptenmt: pip install '.[serve]'",
        ) from error
    if add_key is not None:
        if keys is None:
            raise ConfigError("--add-key needs --keys FILE")
        with standard_output() as stream:
            stream.write(make_key(keys, add_key) + "\n")
        return
    log_to_stderr(is_verbose=screen.verbose)
    limits = Limits.parse(limit or ())
    names: list[str | None] = [*runs] if runs else [None]
    trained = [
        TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=screen.warn_loudly)
        for run in names
    ]
    directions = [
        direction_of_run(
            model,
            options.chosen_decoding(model.config.decoding, overrides),
            checkpoint,
            device=device,
            threads=threads,
        )
        for model in trained
    ]
    run_server(
        Service(
            Models(directions),
            limits,
            Keys(keys, limits),
            threads=threads or available_cores(),
            glossaries={file.stem: Glossary.read(file) for file in glossary or ()},
        ),
        host=host,
        port=port,
        origins=allow_origin or [],
        prefix=f"/{url_prefix.strip('/')}".rstrip("/"),
        on_start=lambda url: screen.say(_greeting(trained, url)),
        on_warning=screen.warn_loudly,
    )
    screen.say("stopped")


def _greeting(models: Iterable[TrainedModel], url: str) -> str:
    labels = (f"{' → '.join(model.config.data.languages)} with {model_label(model)}" for model in models)
    return f"{', '.join(labels)} at {url} — Ctrl-C stops the server"
