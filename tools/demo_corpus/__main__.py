"""Write the demo corpus: ``python -m tools.demo_corpus FILE.tsv.gz``."""

import sys
from pathlib import Path

from tools.demo_corpus import write_corpus

write_corpus(Path(sys.argv[1]))
