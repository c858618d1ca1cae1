"""The bundled demo corpus: the bytes that were published."""

import gzip
import hashlib

from ptenmt.data.readers import DEMO_FILE, demo_pairs

SHA256 = "52c549c1c0b07885b791858ae0aa62c325ce73938b994f69d580573089b7872a"


def test_the_corpus_is_the_published_one() -> None:
    assert hashlib.sha256(gzip.decompress(DEMO_FILE.read_bytes())).hexdigest() == SHA256
    splits = ("train", "validation", "test")
    assert [len(demo_pairs(split)) for split in splits] == [8030, 300, 300]
