"""Characters that hide or reorder text are written out; those that scripts and emoji need stay."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from clew.surface.cli.text import clean, one_line
from clew.surface.escaping import escape_hidden, escape_line

# Signs of the category "format" that are drawn: Arabic and Syriac number signs, hieroglyph layout.
VISIBLE_FORMAT = {
    *range(0x600, 0x606),
    0x6DD,
    0x70F,
    0x890,
    0x891,
    0x8E2,
    0x110CD,
    *range(0x13430, 0x13440),
}


def test_every_control_and_format_character_is_written_out_between_latin_letters() -> None:
    found = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and escape_hidden(f"x{chr(code)}x") == f"x{chr(code)}x"
    ]
    assert set(found) - VISIBLE_FORMAT == {ord("\t"), ord("\n")}


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 at home",
        "\U0001f3f3\ufe0f\u200d\U0001f308 \u2764\ufe0f 1\ufe0f\u20e3 \u00a9\ufe0f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
        "caf\u00e9, na\u00efve, \u6570\u636e\u5e93",
    ],
    ids=["family", "emoji", "persian", "hindi", "hebrew", "accents"],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert escape_hidden(text) == escape_line(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        *(
            "\u200d\u200c\u200d\u200c",
            "\ufe00\ufe01",
            "\u200d\ufe0f\u200d\ufe0f",
            "\U000e0100\U000e0101",
            "\U000e0041",
        ),
        *("\u202e", "\u2067", "\u200b", "\u3164", "\u2800"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("before", ["x", "\U0001f600", "\u0645"], ids=["latin", "emoji", "arabic"])
def test_hidden_text_is_written_out_wherever_it_stands(hidden: str, before: str) -> None:
    assert escape_hidden(f"{before}{hidden}y") == f"{before}{ascii(hidden)[1:-1]}y"


def test_people_see_on_a_terminal_what_models_are_shown() -> None:
    assert clean("pay\u200bment\nin\u202evoice") == "pay\\u200bment\nin\\u202evoice"
    assert one_line("pay\u200bment\nin\u202evoice") == "pay\\u200bment in\\u202evoice"
