"""Unpacking: everything of an honest archive, nothing of another."""

import contextlib
import stat
import zipfile
from pathlib import Path

import pytest

from ptenmt.data import download as unpack
from ptenmt.data.download import unpack_zip
from ptenmt.errors import DownloadError


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def assert_nothing_but(archive: Path) -> None:
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


def test_unpacks_all(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("x.txt", b"x"), ("deep/", b""), ("deep/er/y..txt", b"y"))
    unpack_zip(archive, tmp_path / "new" / "a")
    files = {p.relative_to(tmp_path / "new").as_posix() for p in tmp_path.glob("new/**/*") if p.is_file()}
    assert files == {"a/x.txt", "a/deep/er/y..txt"}
    assert (tmp_path / "new/a/deep/er/y..txt").read_bytes() == b"y"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["a"]


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/../../evil",
        "/tmp/evil",
        "C:/evil",
        "C:evil",
        "..\\evil",
        "a\\..\\..\\evil",
        "\\evil",
        "..",
    ],
)
def test_no_entry_lands_outside(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "a.zip", ("fine.txt", b"x"), (name, b"evil"))
    with contextlib.suppress(DownloadError):
        unpack_zip(archive, tmp_path / "a")
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "a" not in path.parents]
    assert outside == [archive]
    assert not Path("/tmp/evil").exists()  # noqa: S108


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", (link("shortcut"), str(tmp_path).encode()))
    unpack_zip(archive, tmp_path / "a")
    assert not (tmp_path / "a/shortcut").is_symlink()


def test_refuses_encrypted_entries(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("secret.txt", b"x"))
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(DownloadError, match=r"'secret\.txt'.* is encrypted"):
        unpack_zip(archive, tmp_path / "a")


def test_refuses_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "_MAX_UNPACKED_BYTES", 1999)
    archive = zipped(tmp_path / "a.zip", ("x", bytes(1000)), ("y", bytes(1000)))
    with pytest.raises(DownloadError, match="2,000 bytes unpacked, the limit is 1,999"):
        unpack_zip(archive, tmp_path / "a")
    assert_nothing_but(archive)


def test_an_understated_size_cannot_smuggle_a_bomb(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("x", bytes(100_000)))
    content = archive.read_bytes()
    entry = content.index(b"PK\x01\x02")
    archive.write_bytes(content[: entry + 24] + (10).to_bytes(4, "little") + content[entry + 28 :])
    with pytest.raises(DownloadError, match="damaged"):
        unpack_zip(archive, tmp_path / "a")
    assert_nothing_but(archive)


def flipped(content: bytes) -> bytes:
    middle = content.index(b"PK\x01\x02") // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: b"<html>Log in to the hotel</html>", lambda c: c[:-30], flipped]
)
def test_a_damaged_archive_is_an_error(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    archive = zipped(tmp_path / "a.zip", ("x", bytes(range(256)) * 40), ("y", b"y"))
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(DownloadError, match=r"a\.zip is no zip archive or is damaged"):
        unpack_zip(archive, tmp_path / "a")
    assert_nothing_but(archive)


def test_an_existing_folder_is_replaced_or_unharmed(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("x", b"new"))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "old").write_bytes(b"old")
    (tmp_path / "bad.zip").write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(DownloadError, match="damaged"):
        unpack_zip(tmp_path / "bad.zip", tmp_path / "a")
    assert (tmp_path / "a" / "old").read_bytes() == b"old"
    unpack_zip(archive, tmp_path / "a")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("x", b"x"))
    with pytest.raises(DownloadError, match="cannot unpack"):
        unpack_zip(archive, archive / "below" / "a")


def test_entries_that_contradict_each_other_are_an_error(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", ("x", b"a file"), ("x/y", b"as a folder"))
    with pytest.raises(DownloadError, match="cannot unpack"):
        unpack_zip(archive, tmp_path / "a")
    assert_nothing_but(archive)
