"""Characters that a reader does not see and a model reads: tags, zero width, turned directions, strings of selectors."""

from __future__ import annotations

from clew.ingest.firewall.instructions.rule import compiled

# A flag of a region is written with tags (🏴 and letters up to a cancel tag); Persian, Indic and emoji need joiners, Thai breaks with
# zero width spaces, and Arabic and Hebrew turn the direction. None of these stands between Latin letters.
_FLAGS = "\U0001f3f4[\U000e0030-\U000e007a]{1,8}\U000e007f"
_TAGS = "[\U000e0000-\U000e007f]"
_LATIN = "A-Za-z\u00c0-\u024f"
_ZERO_WIDTH = f"(?<=[{_LATIN}])[\u180e\u200b-\u200f\u2060-\u2064\ufeff]+(?=[{_LATIN}])"
_TURNED = "[\u202d\u202e]"
_EMBEDDED = "[\u202a\u202b\u2066-\u2068]"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]"
_SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
INVISIBLE = "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"


def hides(text: str) -> bool:
    r"""Tell whether a text holds characters whose only use there is to be read unseen.

    >>> hides("pay\u200bment"), hides("👨\u200d👩\u200d👧 at home"), hides("plain")
    (True, False, False)
    """
    if text.isascii():
        return False
    return bool(
        compiled(_TAGS).search(compiled(_FLAGS).sub("", text))
        or compiled(_ZERO_WIDTH).search(text)
        or compiled(_TURNED).search(text)
        or compiled(_SELECTORS).search(text)
        or (compiled(_EMBEDDED).search(text) and not compiled(_RIGHT_TO_LEFT).search(text))
    )


def visible(text: str) -> str:
    r"""Return a text as a model reads it: tags as the letters they stand for, without what has no width.

    >>> visible("pay\u200bment \U000e0068\U000e0069")
    'payment hi'
    """
    if text.isascii():
        return text
    return compiled(INVISIBLE).sub("", compiled(_TAGS).sub(lambda found: chr(ord(found.group()) - 0xE0000), compiled(_FLAGS).sub("", text)))
