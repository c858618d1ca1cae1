"""What a model can be exported as."""

from typing import Literal

Format = Literal["ctranslate2", "savedmodel", "argos", "weights"]
"""For CTranslate2; for TensorFlow (Serving); for Argos Translate and LibreTranslate; for any framework."""
Quantization = Literal[
    "int8", "int8_bfloat16", "int8_float16", "int8_float32", "bfloat16", "float16", "int16", "float32"
]
"""How CTranslate2 stores the weights; the 8-bit ones take a quarter of the room of ``float32``."""
