"""What a message says: a text, or a list of parts of which some are text and some pictures, calls and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_TEXTS = ("text", "content", "value")
_LISTS = ("parts", "content")
_DEPTH = 4  # {"content": {"parts": [{"text": …}]}} is the deepest seen; what lies deeper is not what was said
_MACHINERY = ("tool", "function", "think", "reason", "redacted")  # beginnings of the types of parts that nobody said


def told(content: object, *, depth: int = _DEPTH) -> tuple[str, Mapping[str, int]]:
    r"""Return the text of a message's content, and how many of its parts are none, by kind.

    >>> told([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": "…"}])
    ('Look:', {'pictures, files and calls': 1})
    >>> told(["see ", {"type": "link", "text": "the page"}, "!"])[0]
    'see the page!'
    """
    if isinstance(content, str):
        return content, {}
    if isinstance(content, Mapping) and depth:
        return _of_mapping(content, depth)
    if isinstance(content, Sequence) and not isinstance(content, bytes) and depth:
        return _of_list(content, depth)
    return "", {}


def _of_mapping(content: Mapping[str, Any], depth: int) -> tuple[str, Mapping[str, int]]:
    kind = content.get("type", content.get("content_type"))
    if isinstance(kind, str) and kind.startswith(_MACHINERY):
        return "", {}
    for key in _TEXTS:
        if isinstance(content.get(key), str):
            return content[key], {}
    for key in _LISTS:
        if isinstance(content.get(key), list):
            return told(content[key], depth=depth - 1)
    return "", {}


def _of_list(content: Sequence[Any], depth: int) -> tuple[str, Mapping[str, int]]:
    found = [told(part, depth=depth - 1) for part in content]
    texts = [text for text, _ in found if text.strip()]
    left_out: Counter[str] = Counter()
    for part, (text, dropped) in zip(content, found, strict=True):
        left_out.update(dropped if text or dropped or isinstance(part, str) else {"pictures, files and calls": 1})
    # A text with links in it comes as texts and mappings in turn; a list of one kind holds paragraphs.
    running = len({isinstance(part, str) for part in content}) > 1 and all(text for text, _ in found)
    return ("".join(text for text, _ in found) if running else "\n\n".join(texts)), dict(left_out)
