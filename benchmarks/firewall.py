"""Measure the write firewall on its labelled texts and publish the figures in the guide.

`--check` only compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.ingest.firewall.planted import Holding, holdings, planted, texts

from clew.memories.firewall.instructions import find_flags
from clew.memories.firewall.secrets import find_secrets, redact

GUIDE = Path(__file__).parent.parent / "docs" / "guide" / "security.md"
BEGIN, END = "<!-- firewall figures -->\n", "<!-- /firewall figures -->\n"
KINDS = {"secrets": "secrets", "instructions": "orders to the reader"}
PARTS = {"dev": "development", "heldout": "held out", "later": "written afterwards, to evade"}
# How many texts were found by the rules as they were before, and when the extended rules first ran
# on a list that they had not seen.
BEFORE = {
    "secrets_dev": 10,
    "secrets_heldout": 21,
    "secrets_later": 14,
    "instructions_dev": 2,
    "instructions_heldout": 7,
    "instructions_later": 1,
}
FIRST_RUN = {
    "secrets_heldout": 75,
    "secrets_later": 16,
    "instructions_heldout": 46,
    "instructions_later": 1,
}


def is_removed(holding: Holding) -> bool:
    """Tell whether nothing of a planted secret is left in what would be stored."""
    left = redact(holding.text, find_secrets(holding.text))
    return not any(secret in left for secret in holding.secrets)


def missed(name: str) -> list[str]:
    """Return the planted texts of a list that are not found."""
    if name.startswith("secrets"):
        return [each.text for each in holdings(name) if not is_removed(each)]
    return [text for text in texts(planted(name)["hostile"]) if not find_flags(text)]


def false_alarms(name: str) -> list[str]:
    """Return the look-alikes of a list that are taken for what they resemble."""
    finds: Callable[[str], Iterable[object]] = (
        find_secrets if name.startswith("secrets") else find_flags
    )
    return [text for text in texts(planted(name)["harmless"]) if finds(text)]


def figures() -> str:
    """Return the table of all lists."""
    head = [
        "| what | list | texts | found before | found at the first run | found now | look-alikes | false alarms |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*head, *(_row(kind, part) for kind in KINDS for part in PARTS), ""])


def _row(kind: str, part: str) -> str:
    name = f"{kind}_{part}"
    lists = planted(name)
    count = len(texts(lists["holding" if kind == "secrets" else "hostile"]))
    first = FIRST_RUN.get(name, "–")
    found, wrong, alike = (
        count - len(missed(name)),
        len(false_alarms(name)),
        len(texts(lists["harmless"])),
    )
    return f"| {KINDS[kind]} | {PARTS[part]} | {count} | {BEFORE[name]} | {first} | {found} | {alike} | {wrong} |"


def rendered() -> str:
    """Return the guide with the figures as they are measured now."""
    page = GUIDE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{figures()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    page = rendered()
    if "--check" in sys.argv:
        raise SystemExit(page != GUIDE.read_text(encoding="utf-8"))
    GUIDE.write_text(page, encoding="utf-8")
    print(figures())
