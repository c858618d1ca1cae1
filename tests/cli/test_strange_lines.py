"""``ptenmt translate --input FILE``: lines that are not ordinary text."""

import json
import random
from pathlib import Path

import pytest

WORDS = ["gato", "cão", "ave", "rei", "mãe", "come", "dorme", "canta", "hoje", "agora", ".", ",", "?"]
STRANGE = [
    "\0",
    "\0 gato \0\0",
    " ",
    "\t\t",
    "\u00a0\u3000",
    "...?!,,",
    "—«»“”",
    "\r",
    "gato\rcão",
    "\r gato",
    "gato\u2028cão\u2029\x85\x0b\x0c\x1c",
    "\ufeff\u200b",
    "שלום עולם",
    "\u202eمرحبا بالعالم\u202c",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "e\u0301" * 40,
    "▁▁ [START] [END] [UNK] <s> </s>",
    "\ue000gato\ue001",
    "猫は魚を食べる。" * 20,
]


def fuzzed(count: int) -> list[str]:
    chosen = random.Random(7)
    letters = [chr(code) for code in range(0x2000) if code not in (0x0A,)] + WORDS + STRANGE
    lines = [
        "".join(chosen.choices(letters, k=chosen.choice([1, 3, 10, 40]))) for _ in range(count - len(STRANGE))
    ]
    lines[100:100] = STRANGE
    return [line.rstrip("\r") for line in lines]


@pytest.mark.parametrize("count", [4_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_strange_lines(ptenmt, random_run: Path, tmp_path: Path, count: int) -> None:
    """None crashes it, none is lost, and they stay in their order."""
    lines = fuzzed(count)
    lines[3000] = "gato, cão  " * 20_000
    content = [line.encode() for line in lines]
    (tmp_path / "in.txt").write_bytes(b"\n".join(content) + b"\n")
    (tmp_path / "begin.txt").write_bytes(b"\n".join(content[:2048]) + b"\n")
    command = ["translate", "--run", str(random_run), "--input"]

    result = ptenmt(*command, str(tmp_path / "in.txt"), "--output", str(tmp_path / "out.txt"))
    written = (tmp_path / "out.txt").read_bytes().decode().split("\n")[:-1]
    assert len(written) == len(lines)
    assert all(written[number] == line for number, line in enumerate(lines) if not line.strip())
    assert len(written[3000]) > 1000
    assert "too long for the model, which was split: 1\n" in result.stderr
    result = ptenmt(*command, str(tmp_path / "begin.txt"), "--json")
    answers = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    assert [answer["source"] for answer in answers] == lines[:2048]
    assert [answer["translation"] for answer in answers] == written[:2048]


def test_what_came_before_a_bad_line_of_standard_input_is_written(ptenmt, random_run: Path) -> None:
    answer = ptenmt("translate", "--run", str(random_run), stdin=b"gato\nol\xe1\n", code=1)
    assert answer.stdout.count("\n") == 1
    assert "error: standard input, line 2: byte 3 is not valid UTF-8" in answer.stderr
