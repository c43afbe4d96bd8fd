"""Write memories.yaml: draw the dates of each memory of families.yaml from the pattern it was given, with a fixed seed.

    python -m benchmarks.memories.history.generate

The year begins on 1 December 2025 and the questions are asked on 1 December 2026.

habit        said in the first months, and again about every six weeks until now; found useful now
             and then
rising       as habit, since the summer
fading       as habit, and not any more since the spring
used         said once, and looked up again and again until now
note         said once, and hardly looked up
old          said once in the first ten months, of passing interest
recent       said once in the last five weeks, of passing interest
replaced     said in spring, and superseded by the memory after it
replacement  said in summer in the place of the one before it
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

HERE = Path(__file__).parent
BEGIN, END = date(2025, 12, 1), date(2026, 12, 1)
DAYS = (END - BEGIN).days
BEFORE = 10  # days before something takes another's place
# When it is first said (from day, to day), how often again and until when, how often looked up and
# until when, and its stability.
PATTERNS: dict[str, tuple[tuple[int, int], tuple[int, int, int], tuple[int, int, int], str]] = {
    "habit": ((5, 100), (4, 8, 358), (2, 6, 358), "static"),
    "rising": ((210, 260), (3, 5, 360), (2, 5, 362), "dynamic"),
    "fading": ((5, 60), (3, 6, 165), (2, 4, 180), "dynamic"),
    "used": ((20, 180), (0, 1, 330), (6, 12, 362), "static"),
    "note": ((5, 340), (0, 0, 0), (0, 1, 350), "unknown"),
    "old": ((5, 300), (0, 0, 0), (0, 1, 310), "ephemeral"),
    "recent": ((330, 363), (0, 0, 0), (0, 0, 0), "ephemeral"),
    "replaced": ((20, 120), (0, 2, 170), (0, 3, 170), "dynamic"),
    "replacement": ((175, 260), (0, 2, 355), (0, 3, 360), "dynamic"),
}


def memories_of(
    families: list[dict[str, Any]], prefix: str, draw: Random
) -> Iterator[dict[str, Any]]:
    number = 0
    for family in families:
        keys = [f"{prefix}{number + place:03}" for place in range(len(family["m"]))]
        number += len(keys)
        linked: dict[int, list[str]] = {}
        for source, target in family.get("link", ()):
            linked.setdefault(source, []).append(keys[target])
        for place, each in enumerate(family["m"]):
            ((pattern, text),) = each.items()
            memory = {"key": keys[place], "text": text, **history_of(pattern, draw)}
            if pattern == "replacement":
                memory["supersedes"] = keys[place - 1]
            if place in linked:
                memory["related"] = linked[place]
            yield memory


def history_of(pattern: str, draw: Random) -> dict[str, Any]:
    """Return when a memory was said, said again and looked up."""
    told, again, used, stability = PATTERNS[pattern]
    first = draw.randint(*told)
    found = {
        "told": BEGIN + timedelta(days=first),
        "again": days(draw, first, *again),
        "used": days(draw, first, *used),
        "stability": stability,
    }
    return {key: value for key, value in found.items() if value}


def days(draw: Random, first: int, least: int, most: int, until: int) -> list[date]:
    """Return some days after the first, spread evenly with some chance."""
    count = draw.randint(least, most) if until > first + 2 else 0
    step = (until - first) / count if count else 0
    return sorted(
        {
            BEGIN + timedelta(days=round(first + step * (place + draw.uniform(0.3, 1.0))))
            for place in range(count)
        }
    )


def questions_of(families: list[dict[str, Any]], prefix: str) -> Iterator[dict[str, Any]]:
    number = 0
    for family in families:
        for kind, name in (("h", "history"), ("p", "words")):
            for ask, place in family.get(kind, ()):
                yield {"ask": ask, "needs": [f"{prefix}{number + place:03}"], "decides": name}
        number += len(family["m"])


def earlier_questions(
    families: list[dict[str, Any]], prefix: str, memories: dict[str, dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Ask the questions about what took another's place again as of, and by what was known on, a day before that."""
    number = 0
    for family in families:
        patterns = [next(iter(each)) for each in family["m"]]
        for before, after in (("replaced", "replacement"), ("fading", "rising")):
            if before not in patterns or after not in patterns:
                continue
            old, new = (f"{prefix}{number + patterns.index(each):03}" for each in (before, after))
            day = max(
                memories[old]["told"] + timedelta(days=1),
                memories[new]["told"] - timedelta(days=BEFORE),
            )
            for ask, place in family.get("h", ()):
                if patterns[place] == after:
                    yield {"ask": ask, "needs": [old], "decides": "as-of", "as_of": day}
                    yield {"ask": ask, "needs": [old], "decides": "known-at", "known_at": day}
        number += len(family["m"])


def generated() -> str:
    """Return the text of memories.yaml."""
    told = yaml.safe_load((HERE / "families.yaml").read_text(encoding="utf-8"))
    draw = Random(20261201)
    lines = [
        "# A year of an assistant's user and of a team, with what was said again and looked up. Made from families.yaml by generate.py.\n"
    ]
    for space, families in told.items():
        lines.append(f"{space}:\n  memories:\n")
        memories = list(memories_of(families, space[0], draw))
        lines += [f"  - {flow(memory)}\n" for memory in memories]
        lines.append("  questions:\n")
        by_key = {memory["key"]: memory for memory in memories}
        asked = (*questions_of(families, space[0]), *earlier_questions(families, space[0], by_key))
        lines += [f"  - {flow(question)}\n" for question in asked]
    return "".join(lines)


def flow(value: dict[str, Any]) -> str:
    return yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    ).strip()


if __name__ == "__main__":
    (HERE / "memories.yaml").write_text(generated(), encoding="utf-8")
