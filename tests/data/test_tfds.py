"""TFDS datasets, fetched with our own downloader."""

import hashlib
import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import tensorflow_datasets as tfds
from http_server import Site, closed_port, serve

from ptenmt.data import tfds as tfds_source
from ptenmt.data.tfds import prepare_tfds, read_tfds
from ptenmt.errors import DataError, DownloadError, DownloadProgress

pytestmark = pytest.mark.usefixtures("hasty", "no_other_address")

PT_EN = "ted_hrlr_translate/pt_to_en"
ARCHIVE = "qi18naacl-dataset.tar.gz"
PAIRS = {
    "train": [("olá mundo .", "hello world ."), ("é « verdade » .", "it 's true ."), ("três", "three")],
    "dev": [("até já .", "see you soon .")],
    "test": [("adeus .", "goodbye ."), ("obrigado .", "thanks .")],
}


def ted_archive() -> bytes:
    """The published archive's layout, with a handful of pairs."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for split, pairs in PAIRS.items():
            for side, language in enumerate(("pt", "en")):
                text = "".join(pair[side] + "\n" for pair in pairs).encode()
                entry = tarfile.TarInfo(f"datasets/pt_to_en/{language}.{split}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
    return content.getvalue()


@pytest.fixture
def no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the address that TFDS knows answers."""
    monkeypatch.setattr(tfds_source, "WEB_ARCHIVE", f"http://127.0.0.1:{closed_port()}/")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server with the archive, which TFDS believes to be the original."""
    with serve(Site(body=ted_archive())) as served:
        register(monkeypatch, served.url(ARCHIVE), served.body)
        yield served


def register(monkeypatch: pytest.MonkeyPatch, url: str, body: bytes) -> None:
    builder = tfds.builder_cls("ted_hrlr_translate")
    info = tfds.core.download.checksums.UrlInfo(
        size=len(body), checksum=hashlib.sha256(body).hexdigest(), filename=ARCHIVE
    )
    monkeypatch.setattr(sys.modules[builder.__module__], "_DATA_URL", url)
    monkeypatch.setattr(builder, "url_infos", {url: info})


def test_fetches_prepares_and_reads(
    site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # TFDS would ask Google for the prepared dataset first.
    monkeypatch.delattr(tfds.core.utils.gcs_utils, "is_dataset_on_gcs")
    events: list[DownloadProgress] = []
    prepare_tfds(PT_EN, str(tmp_path), events.append)
    assert events[-1].done == len(site.body)
    assert (tmp_path / "downloads/manual" / ARCHIVE).read_bytes() == site.body
    assert len(site.requests) == 1
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "Dl Completed" not in printed.err

    splits = {name: list(read_tfds(PT_EN, str(tmp_path), name)) for name in ("train", "validation", "test")}
    assert {name: sorted(pairs) for name, pairs in splits.items()} == {
        "train": sorted(PAIRS["train"]),
        "validation": PAIRS["dev"],
        "test": sorted(PAIRS["test"]),
    }

    (tmp_path / "downloads/manual" / ARCHIVE).unlink()  # a prepared dataset needs it no more
    prepare_tfds(PT_EN, str(tmp_path))
    assert len(site.requests) == 1


def test_the_web_archive_has_what_the_first_host_has_not(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(Site(body=site.body)) as copy:
        monkeypatch.setattr(tfds_source, "WEB_ARCHIVE", copy.url("web/"))
        site.body = b"<!doctype html><title>This domain is for sale</title>"
        prepare_tfds(PT_EN, str(tmp_path))
    assert len(list(read_tfds(PT_EN, str(tmp_path), "train"))) == len(PAIRS["train"])
    assert len(copy.requests) == 1
    assert [message.endswith("; trying the web archive") for message in caplog.messages] == [True]


def test_without_network_names_the_file_to_put_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{closed_port()}/{ARCHIVE}"
    archive = ted_archive()
    register(monkeypatch, url, archive)
    with pytest.raises(DownloadError) as caught:
        prepare_tfds(PT_EN, str(tmp_path))
    by_hand = tmp_path / "downloads" / "manual" / ARCHIVE
    assert url in caught.value.message
    assert str(by_hand) in caught.value.hint
    by_hand.write_bytes(archive)
    prepare_tfds(PT_EN, str(tmp_path))
    assert len(list(read_tfds(PT_EN, str(tmp_path), "test"))) == len(PAIRS["test"])


def test_the_registered_archive_is_the_published_one() -> None:
    """What prepare_tfds asks of TFDS's registry is there, for the real dataset."""
    ((url, info),) = tfds.builder_cls("ted_hrlr_translate").url_infos.items()
    assert (url, info.filename) == (f"http://www.phontron.com/data/{ARCHIVE}", ARCHIVE)
    assert info.checksum == "216a86c3df4d4f522856fe9b920ff5be6b394d769cc88974ae8f9f5546953bbc"


def test_an_unknown_name_gets_a_suggestion(tmp_path: Path) -> None:
    name = "ted_hrlr_translate/pt_en"
    for call in (prepare_tfds, lambda *place: list(read_tfds(*place, "train"))):
        with pytest.raises(DataError, match=rf"{name} of TensorFlow Datasets — did you mean {PT_EN}\?"):
            call(name, str(tmp_path))
