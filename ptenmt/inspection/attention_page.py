"""Attention as a web page of its own: one points at a word and sees what it attends to."""

import base64
import json
from importlib.resources import files

import numpy as np

from ptenmt.inspection.attention import AttentionWeights, Block, name_of

MOST_TOKENS = 100
"""More of either side are not on the page: nobody could find their way, and it would take megabytes."""

_TO: dict[Block, tuple[str, str]] = {
    "encoder": ("source", "source"),
    "self": ("target", "target"),
    "cross": ("target", "source"),
}
_PLACE = "@DATA@"


def attention_page(found: AttentionWeights) -> str:
    """Write a page that shows all layers, blocks and heads, with everything it needs in it.

    Args:
        found: The weights.

    Returns:
        HTML, which a browser opens without a network.
    """
    template = files("ptenmt.inspection").joinpath("attention.html").read_text(encoding="utf-8")
    data = json.dumps(_data(found), ensure_ascii=False)
    return template.replace(_PLACE, data.replace("<", "\\u003c"))  # a token may be </script>


def _data(found: AttentionWeights) -> dict[str, object]:
    """What the page's script reads."""
    pieces = {"source": found.source_pieces, "target": found.target_pieces}
    shown = {side: of_side[:MOST_TOKENS] for side, of_side in pieces.items()}
    num_layers, num_heads = found.num_layers, len(found.weights[name_of("encoder", 1)])
    return {
        **shown,
        "next": found.target_pieces[1 : MOST_TOKENS + 1],
        "layers": num_layers,
        "heads": num_heads,
        "note": " ".join(
            f"Of the {side}, the first {MOST_TOKENS} of {len(of_side)} tokens are shown."
            for side, of_side in pieces.items()
            if len(of_side) > MOST_TOKENS
        ),
        "weights": {
            block: [
                _packed(found.weights[name_of(block, layer)][:, : len(shown[rows]), : len(shown[columns])])
                for layer in range(1, num_layers + 1)
            ]
            for block, (rows, columns) in _TO.items()
        },
    }


def _packed(weights: np.ndarray) -> str:
    """Weights from 0 to 1 as 16 bits each, in base64."""
    return base64.b64encode(np.round(weights * 65535).astype("<u2").tobytes()).decode("ascii")
