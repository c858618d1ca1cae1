"""English names of languages by their ISO 639-1 code."""

_TABLE = """
af Afrikaans, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, br Breton,
bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English, eo Esperanto,
es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish, gd Scottish Gaelic,
gl Galician, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian,
is Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, ko Korean, la Latin, lb Luxembourgish,
lt Lithuanian, lv Latvian, mk Macedonian, mr Marathi, ms Malay, mt Maltese, my Burmese,
nb Norwegian Bokmål, nl Dutch, nn Norwegian Nynorsk, oc Occitan, pl Polish, pt Portuguese,
ro Romanian, ru Russian, sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili,
ta Tamil, th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, vi Vietnamese, zh Chinese
"""
_NAMES = dict(entry.strip().split(maxsplit=1) for entry in _TABLE.split(","))


def language_name(code: str) -> str:
    """The English name of a language; an unknown code is returned as it is."""
    return _NAMES.get(code, code)
