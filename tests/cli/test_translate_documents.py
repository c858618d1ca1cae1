"""``ptenmt translate report.docx page.html --output-dir en``."""

import io
from pathlib import Path

import docx
import pytest

from ptenmt.cli.translate import DOCUMENTS
from ptenmt.documents import FORMATS, translate_document

pytestmark = pytest.mark.usefixtures("beside")


def word_file(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    stored = io.BytesIO()
    document.save(stored)
    return stored.getvalue()


def test_documents_of_several_formats(ptenmt, tmp_path: Path) -> None:
    page, report, film = (tmp_path / name for name in ("page.html", "report.docx", "film.srt"))
    page.write_text("<p>o gato come hoje .</p>", encoding="utf-8")
    report.write_bytes(word_file("o gato come hoje .", "o rei canta aqui ."))
    film.write_text("1\n00:00:01,000 --> 00:00:02,000\no gato come hoje .\n", encoding="utf-8")
    folder = tmp_path / "en"
    answer = ptenmt("translate", *map(str, (page, report, film)), "--output-dir", str(folder))
    alone = ptenmt("translate", "o gato come hoje .").stdout.strip()
    assert answer.stdout == ""
    assert [line.rpartition(":")[0] for line in answer.stderr.splitlines()] == [
        str(folder / file.name) for file in (page, report, film)
    ]
    assert (folder / "page.html").read_text(encoding="utf-8") == f"<p>{alone}</p>"
    translated = docx.Document(str(folder / "report.docx"))
    assert [paragraph.text for paragraph in translated.paragraphs][0] == alone
    assert (folder / "film.srt").read_text(encoding="utf-8").splitlines()[2] == alone


def test_what_cannot_be_translated_is_said_before_anything_is(ptenmt, tmp_path: Path) -> None:
    page, paper = tmp_path / "page.html", tmp_path / "paper.pdf"
    page.write_text("<p>o gato</p>", encoding="utf-8")
    paper.write_bytes(b"%PDF")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "page.html").write_text("<p>o rei</p>", encoding="utf-8")

    def error(*files: Path, folder: str = "en") -> str:
        return ptenmt("translate", *map(str, files), "--output-dir", str(tmp_path / folder), code=1).stderr

    assert f"{paper}: files of type .pdf are not supported: .txt, .md" in error(page, paper)
    assert f"{tmp_path / 'other'} is a folder" in error(page, tmp_path / "other")
    assert "would be replaced by its translation" in error(page, folder=".")
    assert "two of the documents have the same name" in error(page, tmp_path / "other" / "page.html")
    assert "--output-dir needs documents" in error()
    assert not (tmp_path / "en").exists()


@pytest.mark.parametrize(("name", "content"), [("a.docx", b"PK"), ("a.json", b'["x \\ud800 y"]')])
def test_a_damaged_document_does_not_keep_others_from_being_translated(
    ptenmt, tmp_path: Path, name: str, content: bytes
) -> None:
    damaged, page = tmp_path / name, tmp_path / "page.html"
    damaged.write_bytes(content)
    page.write_text("<p>o gato</p>", encoding="utf-8")
    files = map(str, (damaged, page))
    stderr = ptenmt("translate", *files, "--output-dir", str(tmp_path / "en"), "--quiet", code=1).stderr
    assert f"warning: {damaged}: " in stderr
    assert "error: 1 of 2 documents cannot be translated" in stderr
    assert [file.name for file in (tmp_path / "en").glob("*.*") if file.name[0] != "."] == ["page.html"]


def test_a_document_in_another_language_is_a_warning(ptenmt, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("The cat and the dog are here with us.\nWhere have they been all of this time?\n")
    stderr = ptenmt("translate", str(letter), "--output-dir", str(tmp_path / "en")).stderr
    assert f"warning: {letter} is in another language: English, left as it is" in stderr


def test_a_text_or_lines_that_are_a_document(ptenmt, tmp_path: Path) -> None:
    letter, report = tmp_path / "letter.txt", tmp_path / "d.docx"
    letter.touch()
    warning = f"warning: {letter} is a file: --input translates its lines, --output-dir a document"
    assert warning in ptenmt("translate", str(letter)).stderr
    refused = ptenmt("translate", "--input", str(report), code=1).stderr
    assert "d.docx is a document, not lines of text" in refused
    assert {*FORMATS} == {*DOCUMENTS, ".txt"} - {".htm"}


def write_documents(folder: Path) -> list[str]:
    contents = {
        "a.md": "# o *gato* come hoje .\n\n```\no rei\n```\n",
        "b.json": '{"o rei": "o rei canta aqui ."}\n',
        "c.po": 'msgid "o gato dorme agora ."\nmsgstr ""\n',
        "d.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\no gato come hoje .\n",
    }
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [str(folder / name) for name in contents]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_an_interrupted_run_over_documents_resumes_and_replaces_none(
    ptenmt, tmp_path: Path, monkeypatch
) -> None:
    names, whole, folder = write_documents(tmp_path), tmp_path / "whole", tmp_path / "en"
    ptenmt("translate", *names, "--output-dir", str(whole))
    assert sorted(contents(whole)) == ["a.md", "b.json", "c.po", "d.vtt"]
    command = ("translate", *names, "--output-dir", str(folder))

    def translate_two(translator, name, *others):
        if name == "c.po":
            raise KeyboardInterrupt
        return translate_document(translator, name, *others)

    with monkeypatch.context() as patch:
        patch.setattr("ptenmt.cli.documents.translate_document", translate_two)
        answer = ptenmt(*command, code=130)
    assert "stopped: 2 documents saved; resume with\n  ptenmt translate --resume " in answer.stderr
    assert sorted(contents(folder)) == ["a.md", "b.json"]
    (folder / "b.json").write_text("corrected")
    (folder / "a.md").unlink()
    assert ptenmt(*command, code=1).stderr == (
        f"error: {folder / 'b.json'} exists\n  choose another --output-dir, delete it, or keep it and "
        "translate the others with --resume\n"
    )
    assert contents(folder) == {"b.json": b"corrected"}
    assert ptenmt(*command, "--resume").stderr.count("translated before") == 1
    assert contents(folder) == {**contents(whole), "b.json": b"corrected"}
    monkeypatch.setattr("ptenmt.cli.documents.translate_document", None)
    assert ptenmt(*command, "--resume").stderr.count("translated before") == 4
