"""``ptenmt download``."""

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.config.loading import load_config
from ptenmt.data.corpora import fetch_corpora
from ptenmt.data.corpus import fetch_sources


def download(
    screen: Screen,
    config: ConfigName = "base.yaml",
    overrides: Overrides = None,
) -> None:
    """Download the data set, the public corpora and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, data.archive_url (a mirror), corpora in
    data.train, data.validation and data.test, tokenizer.kind, tokenizer.path, tokenizer.url (a mirror) and
    tokenizer.sha256. Interrupted downloads resume. Proxies are taken from the environment (HTTPS_PROXY).

    Example: ptenmt download --config base.yaml --set data.data_dir=tfds

    Example: ptenmt download --config opus.yaml
    """
    options = load_config(config, overrides or [])
    if options.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        tokenizer = fetch_sources(options, show)
    if options.data.source == "tfds":
        screen.say(f"data set {options.data.dataset}: ready")
    if tokenizer.kind == "wordpiece":
        screen.say(f"tokenizer: {tokenizer.path}")
    corpora = fetch_corpora(options.data)
    for facts in corpora:
        screen.say(f"corpus {facts['name']}: {facts['pairs']:,} pairs, licence: {facts['licence']}")
    if options.data.source != "tfds" and tokenizer.kind != "wordpiece" and not corpora:
        screen.say(f"{config} needs nothing from the network")
