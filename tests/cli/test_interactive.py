"""``ptenmt translate --interactive``: what is typed is answered, and commands are obeyed."""

import stat
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ptenmt.cli import interactive
from ptenmt.cli.console import Screen
from ptenmt.cli.interactive import Session, prompt_session
from ptenmt.cli.translation_job import TranslationJob
from ptenmt.translation import Translator

SENTENCE = "o gato come hoje ."


@pytest.fixture(scope="module")
def tiny(trained: Path) -> Translator:
    return Translator.load(trained / "checkpoints" / "tiny")


@pytest.fixture
def talk(tiny: Translator, capsys: pytest.CaptureFixture[str]):
    """Types some lines; gives the lines of both streams."""

    def type_in(*lines: str | type[BaseException]) -> tuple[list[str], list[str]]:
        typed = iter(lines)

        def read() -> str:
            line = next(typed, EOFError)
            if isinstance(line, str):
                return line
            raise line

        Session(
            Screen(), TranslationJob(translator=tiny, options=tiny.config.decoding, weights=""), read
        ).run()
        said = capsys.readouterr()
        return said.out.splitlines(), said.err.splitlines()

    return type_in


def test_a_sentence_is_answered_with_its_time(talk, tiny: Translator) -> None:
    out, err = talk(SENTENCE, "", "  ", "a mãe canta aqui .")
    expected = [translation.text for translation in tiny.translate([SENTENCE, "a mãe canta aqui ."])]
    assert out == expected
    assert len(err) == 2
    assert all(line.endswith(" ms") for line in err)


def test_control_c_clears_a_line_and_control_d_ends(talk) -> None:
    out, _ = talk(KeyboardInterrupt, SENTENCE, EOFError, SENTENCE)
    assert len(out) == 1


def test_quit_ends(talk) -> None:
    assert talk(":quit", SENTENCE) == ([], [])


def test_several_translations_and_more_beams(talk, tiny: Translator) -> None:
    out, err = talk(":n 5", SENTENCE, ":n 1", ":beam 1", SENTENCE, ":beam")
    best = tiny.translate(SENTENCE, replace(tiny.config.decoding, num_hypotheses=5, beam_size=5))[0]
    texts = [best.text, *(other.text for other in best.alternatives)]
    assert [line.split(" ||| ")[:2] for line in out[:-1]] == [["0", text] for text in texts]
    greedy = replace(tiny.config.decoding, beam_size=1)
    assert out[-1:] == [tiny.translate(SENTENCE, greedy)[0].text]
    assert [line for line in err if not line.endswith(" ms")] == [
        "translations: 5, beam size: 5",
        "translations: 1, beam size: 5",
        "translations: 1, beam size: 1",
        ":beam 1",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (":foo", "unknown command :foo; see :help"),
        (": n", "unknown command :; see :help"),
        (":n x", ":n x must be a whole number"),
        (":n 0", ":n 0 must be 1 or more"),
        (":beam", ":beam 4"),
        (":beam -1", ":beam -1 must be 1 or more"),
    ],
)
def test_what_is_wrong_gets_one_line(talk, line: str, message: str) -> None:
    assert talk(line) == ([], [message if line == ":beam" else f"error: {message}"])


def test_more_translations_than_beams_get_one_line(talk) -> None:
    _, err = talk(":n 3", ":beam 2")
    assert err == ["translations: 3, beam size: 4", "error: :n 3 must be at most :beam 2"]


def test_help_names_every_command(talk) -> None:
    _, err = talk(":help")
    commands = [line.split()[0] for line in err if line.startswith(":")]
    assert commands == [":n", ":beam", ":help", ":quit"]


def test_control_c_stops_a_translation_and_no_more(talk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Translator.translate_buffers
    calls: list[int] = []

    def interrupted(self: Translator, *arguments: object, **options: object) -> Iterable[object]:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(self, *arguments, **options)

    monkeypatch.setattr(Translator, "translate_buffers", interrupted)
    out, err = talk(SENTENCE, SENTENCE)
    assert len(out) == 1
    assert err[0] == "stopped"


def test_the_history_is_saved_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    history = interactive._history(pytest.fail)
    for entry in ("um", "dois\ntrês", "\udce1"):
        history.append_string(entry)
    assert list(interactive._history(pytest.fail).load_history_strings()) == ["?", "dois\ntrês", "um"]
    assert stat.S_IMODE((tmp_path / "ptenmt" / "history").stat().st_mode) == 0o600


def test_a_history_that_cannot_be_saved_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    warnings: list[str] = []
    history = interactive._history(warnings.append)
    history.append_string("um")
    assert history.get_strings() == ["um"]
    (message,) = warnings
    assert message.startswith(f"the history is not kept in {tmp_path / 'file' / 'ptenmt' / 'history'}: ")


def test_the_prompt_reads_a_line_and_its_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(interactive, "create_output", lambda _stream: DummyOutput())
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        asked = prompt_session("pt", pytest.fail)
        keys.send_text("o gaato\x1b[D\x1b[D\x7f\r")
        assert asked.prompt() == "o gato"
        keys.send_text("\x1b[A\r")
        assert asked.prompt() == "o gato"
        for key, error in (("\x03", KeyboardInterrupt), ("\x04", EOFError)):
            keys.send_text(key)
            with pytest.raises(error):
                asked.prompt()
    assert (tmp_path / "ptenmt" / "history").read_text().endswith("\n+o gato\n")
