"""What became of an offered text, on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.surface.cli.text import one_line

SIGNS = {"inserted": "+", "exact_duplicate": "=", "near_duplicate": "≈", "rejected": "✗"}
# of the memory that a near duplicate was counted for: enough to notice a wrong match
SHOWN_CHARACTERS = 120


def outcome_line(entry: Mapping[str, Any]) -> str:
    """Return the line for an outcome of the JSON contract.

    >>> outcome_line({"outcome": "rejected", "id": None, "rule": "too_short", "value": 3, "limit": 12})
    '✗ rejected        too_short: 3 (limit: 12)'
    >>> outcome_line({"outcome": "inserted", "id": "01k"})
    '+ inserted        01k'
    """
    kind = str(entry["outcome"])
    return f"{SIGNS.get(kind, '?')} {kind:<15} {_detail(kind, entry)}"


def beside_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return a line for each memory that an inserted text may contradict, and for each other one that lies near it."""
    contradicted = {each["id"] for each in entry.get("conflicts", ())}
    near = [each for each in entry.get("similar", ()) if each["id"] not in contradicted]
    return [*conflict_lines(entry), *similar_lines({"similar": near})]


def conflict_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return a line for each memory that an inserted text may contradict.

    >>> conflict_lines({"conflicts": [{"id": "01k", "kind": "number", "score": 0.9, "text": "Ann is 7."}]})
    ['  may contradict 01k (number, 0.9): Ann is 7.']
    """
    found = entry.get("conflicts", ())
    return [
        f"  may contradict {each['id']} ({each['kind']}, {_shown(each['score'])}){_told(each)}"
        for each in found
    ]


def _told(each: Mapping[str, Any]) -> str:
    return f": {_beginning(each['text'])}" if "text" in each else ""


def similar_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return a line for each memory that lies near an inserted text.

    >>> similar_lines({"similar": [{"id": "01k", "cosine": 0.951, "text": "Ann likes tea."}]})
    ['  similar to 01k (cosine 0.951): Ann likes tea.']
    """
    return [
        f"  similar to {each['id']} (cosine {_shown(each['cosine'])})"
        + (f": {_beginning(each['text'])}" if "text" in each else "")
        for each in entry.get("similar", ())
    ]


def _detail(kind: str, entry: Mapping[str, Any]) -> str:
    if "error" in entry:
        return str(entry["error"]["message"])
    if kind == "inserted":
        return str(entry["id"])
    if kind == "rejected":
        return f"{entry.get('rule')}: {_shown(entry.get('value'))} (limit: {_shown(entry.get('limit'))})"
    return f"of {entry.get('canonical_id')}, {_duplicated(kind, entry)}"


def _duplicated(kind: str, entry: Mapping[str, Any]) -> str:
    if entry.get("rule") == "echo":
        return f"which Clew itself returned (share {_shown(entry.get('value'))}); not stored again"
    if kind == "near_duplicate":
        said = f": {_beginning(entry['canonical_text'])}" if entry.get("canonical_text") else ""
        return f"reinforced (cosine {_shown(entry.get('value'))}, limit {_shown(entry.get('limit'))}){said}"
    known = {
        "idempotency_key": "written under the same key",
        "same_message": "which its session holds already",
    }
    return known.get(str(entry.get("rule")), "reinforced")


def _beginning(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
