"""Names that go on behind a comma: "Otto I, Count of Nassau", "Napier Sturt, 3rd Baron Alington"."""

from __future__ import annotations

import re

_RANK = (
    r"Arch(?:duke|duchess|bishop)|Baron(?:ess|et)?|Bishop|Burgrave|Count(?:ess)?|Duke|Duchess|Earl|Elector|Emperor|Empress|Infant[ae]"
    r"|King|Queen|Landgrav(?:e|ine)|Lord|Lady|Margrav(?:e|ine)|Marquess|Prince(?:ss)?|Sultan|Tsar|Viscount(?:ess)?"
)
_NAME = r"[^\W\d_a-z][\w'’-]{0,40}"
_BEHIND = re.compile(
    rf", (?:\d{{1,3}}(?:st|nd|rd|th) )?(?:Grand |Holy Roman |Hereditary |Crown )?(?:{_RANK})(?: {_NAME}){{0,2}}"
    rf"(?: of (?:the )?{_NAME}(?: {_NAME})?)?"
)


def rank_end(text: str, end: int) -> int:
    """Return where the rank ends that follows a name ending here; the same place where none does.

    >>> text = "Otto I, Count of Nassau was a son of Anna, who wrote."
    >>> text[:rank_end(text, 6)], rank_end(text, 41)
    ('Otto I, Count of Nassau', 41)
    """
    if not text.startswith(", ", end):
        return end
    found = _BEHIND.match(text, end)
    return found.end() if found and (" of " in found[0] or found[0].count(" ") > 1) else end
