"""``ptenmt download``."""

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides, Quiet, Verbose
from ptenmt.config.loading import load_config
from ptenmt.data.corpus import fetch_sources


def download(
    config: ConfigName = "base.yaml",
    overrides: Overrides = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Download the data set and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, data.archive_url (a mirror), tokenizer.kind,
    tokenizer.path, tokenizer.url (a mirror) and tokenizer.sha256. Proxies are taken from the
    environment (HTTPS_PROXY).

    Example: ptenmt download --config base.yaml --set data.data_dir=tfds
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    options = load_config(config, overrides or [])
    if options.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        tokenizer = fetch_sources(options, show)
    if options.data.source == "tfds":
        screen.say(f"data set {options.data.dataset}: ready")
    if tokenizer.kind == "wordpiece":
        screen.say(f"tokenizer: {tokenizer.path}")
    if options.data.source != "tfds" and tokenizer.kind != "wordpiece":
        screen.say(f"{config} needs nothing from the network")
