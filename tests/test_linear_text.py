"""No regular expression and no reader of texts takes more than linear time, whatever somebody repeats.

The patterns are found in the package and the attacks are made from them (`tests/attacks.py`). Sizes
of 1, 2 and 4 times, or more, are compared by CPU time with a wide margin; most are told to be
linear by a small size already.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

import pytest

import clew
from clew.text.words import query_terms
from tests import growth
from tests.attacks import attacks
from tests.found_patterns import Found, find_patterns, read_package

SHORT = 400  # characters of the first try
FACTORS = (8, 32)
MOST = 3.0  # times linear growth
SMALL_SECONDS = 0.0005  # below this the clock decides, not the pattern
ATTACKS = 40  # for each pattern, drawn from those that can be made of it


COMPILE_ARGUMENTS = {
    f"clew.{name}"
    for name in (
        *(
            "memories.firewall.recalled_texts",
            "memories.firewall.instruction_rules",
            "memories.firewall.secret_patterns",
        ),
        *("memories.question_rules", "memories.statements"),
        *("text.dates.relative", "text.dates.vocabulary"),
        *(
            "documents.chunkers.blocks",
            "documents.gitignore",
            "documents.readers.markdown",
            "models.wordpiece",
        ),
    )
}
"""Modules with a function that compiles its argument. In the first two rows the results are kept in
globals, and so are checked; those of the last are a literal tag or token, a choice of two, and
gitignore patterns, which have a hostile test of their own.
"""


@pytest.fixture(scope="module")
def patterns() -> tuple[list[Found], list[str]]:
    """Every pattern of the package, and the calls whose pattern cannot be told from the source."""
    return find_patterns(read_package())


def text_of(attack: tuple[str, str, str], size: int) -> str:
    before, repeated, after = attack
    return before + repeated * (size // len(repeated) + 1) + after


def apply(found: Found, text: str) -> None:
    subject: str | bytes = (
        text.encode("utf-8", "surrogatepass") if isinstance(found.pattern.pattern, bytes) else text
    )
    if found.searched:
        for _ in found.pattern.finditer(subject):
            pass
    else:
        found.pattern.match(subject)
        found.pattern.fullmatch(subject)


def grows_faster(
    work: Callable[[int], object], size: int, factors: tuple[int, ...] = FACTORS
) -> bool:
    """Tell whether the CPU time of work grows faster than its size.

    Looks at larger sizes only while that seems so.
    """
    first = growth.cpu_seconds(work, size)
    for factor in factors:
        limit = MOST * factor * max(first, SMALL_SECONDS)
        if min(_tries(work, size * factor, limit)) <= limit:
            return False
        first = min(first, growth.cpu_seconds(work, size))
    return True


def _tries(work: Callable[[int], object], size: int, limit: float) -> Iterator[float]:
    for _ in range(3):
        yield (taken := growth.cpu_seconds(work, size))
        if taken <= limit:
            return


def test_every_pattern_is_found(patterns: tuple[list[Found], list[str]]) -> None:
    found, unknown = patterns
    assert len(found) > 400
    assert {call.partition(":")[0] for call in unknown} == COMPILE_ARGUMENTS


def test_no_pattern_takes_more_than_linear_time(patterns: tuple[list[Found], list[str]]) -> None:
    draw = random.Random(17)
    slow = []
    for found in patterns[0]:
        every = list(attacks(found.pattern))
        for attack in draw.sample(every, min(ATTACKS, len(every))):
            if grows_faster(
                lambda size, attack=attack, found=found: apply(  # type: ignore[misc]
                    found, text_of(attack, size)
                ),
                SHORT,
            ):
                slow.append((found.where, attack))
                break
    assert slow == []


PIECES = (
    *(
        ".",
        " ",
        "\n",
        "#",
        "[",
        "(",
        "<",
        ">",
        "`",
        "*",
        "|",
        "'",
        '"',
        "0",
        "a",
        "A",
        "字",
        "\u0301",
    ),
    *(
        "# a\n",
        "[a]: b\n",
        "[a](b)",
        "<h1>a</h1>",
        "<div>",
        "<a ",
        "<!--",
        "- a\n",
        "> ",
        "| a | b |\n",
        "```\n",
        "**a** ",
        "**",
    ),
    *(
        "Anna Smith ",
        "User: a\n",
        "2024-01-01 ",
        "yesterday ",
        "a. ",
        "....\n",
        "字。",
        "password: ",
        "http://a.b/c ",
        "a@b.c ",
    ),
)


def imported(name: str, text: str) -> None:
    with clew.open(":memory:", model={"embedder": "hashing-64"}) as memory:
        memory.import_data(text, name=name)


@pytest.mark.parametrize("format", ["txt", "md", "html", "json"])
def test_an_import_takes_linear_time_whatever_is_repeated(format: str) -> None:
    def work(size: int, piece: str) -> None:
        text = piece * (size // len(piece))
        imported(
            f"a.{format}",
            json.dumps([{"role": "user", "content": text}]) if format == "json" else text,
        )

    work(2000, "A sentence. ")  # loads what is loaded on first use
    slow = [
        piece
        for piece in PIECES
        if grows_faster(
            lambda size, piece=piece: work(size, piece),  # type: ignore[misc]
            2500,
            (8,),
        )
    ]
    assert slow == []


def test_a_question_is_analysed_in_linear_time() -> None:
    from clew.text.dates.when import when

    with clew.open(":memory:", model={"embedder": "hashing-64"}) as memory:
        now = memory.now()

    def work(size: int, piece: str) -> None:
        text = piece * (size // len(piece))
        query_terms(text)
        when(text, now=now)

    slow = [
        piece
        for piece in PIECES
        if grows_faster(
            lambda size, piece=piece: work(size, piece),  # type: ignore[misc]
            1000,
            (8,),
        )
    ]
    assert slow == []


def test_growth_with_the_square_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # exact times: no machine decides
    monkeypatch.setattr(growth, "cpu_seconds", lambda work, size: work(size))
    assert grows_faster(lambda size: 1e-7 * size**2, 200)
    assert not grows_faster(lambda size: 1e-5 * size, 200)
