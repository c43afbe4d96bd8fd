"""What is skipped because it cannot find anything would have found nothing.

Each quick look against the rule that it stands before.
"""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memories import quality as parts
from clew.memories import quality as stubs
from clew.memories import quality_features as piece
from clew.memories import quality_features as quality
from clew.memories import small_talk as idle
from clew.memories import substance
from clew.memories.firewall import secret_assignments as assigned
from clew.memories.firewall import secrets as finding
from clew.memories.firewall.instruction_rules import compile_pattern, word_starts
from clew.memories.firewall.instructions import ASCII_RULES, RULES
from clew.memories.firewall.secret_patterns import CARD, SHORT
from clew.memories.quality_features import _piece
from clew.memories.small_talk import content_words, is_content_word
from clew.text import words
from clew.text.names import extraction as extracting
from clew.text.names import extraction as marked
from clew.text.names import identifiers as coding
from clew.text.names import spans as reading
from clew.text.names.extraction import extract_entities
from clew.text.names.lexicon import SKILLS, TOOLS
from clew.text.names.spans import LOWERCASE, MAX_CACHED_CHARACTERS, UNSPACED_LETTER, Shape
from tests.ingest.firewall.planted import planted, texts

ORDERS = [
    text
    for name in ("dev", "heldout", "tuned")
    for text in texts(planted(f"instructions_{name}")["hostile"])
]

# Pieces that the rules look for, with letters that lower case or a pattern without case treat in
# their own way.
SIGNS = (
    *"[(<>{}=;&|§»›→·•/\\.,:!?-_'\"`@#*()\n",
    *(
        " ",
        "::",
        "</",
        "://",
        "www.",
        ".png",
        ".s",
        "doi:",
        "et al.",
        "omitted",
        "OMITTED",
        "omıtted",
        "见",
        "照",
    ),
    *("İ", "ſ", "K", "é", "②", "データ", "пароль", "\x1c", "\x85", "\u2028", "\u00a0"),
)
WORDS = (
    *(
        "the",
        "Anna",
        "makefile",
        "Makefile",
        "getUserName",
        "python",
        "Node",
        "HTTP",
        "don't",
        "vault",
        "v",
        "web-03",
        "a_b",
        "src/a.py",
    ),
    *(
        "ignore",
        "previous",
        "instructions",
        "user",
        "system:",
        "note",
        "assistant",
        "must",
        "привет",
        "指令",
        "用户",
        "忽略",
    ),
    *(
        "password",
        "api_key=",
        "AKIA",
        "sk-",
        "ghp_",
        "eyJ",
        "hooks.slack.com/",
        "xox",
        "SK",
        "sig=",
        "token",
        "Passwort",
    ),
)
TEXTS = st.lists(
    st.one_of(st.sampled_from(SIGNS), st.sampled_from(WORDS), st.text(max_size=4), st.just(" ")),
    max_size=30,
).map("".join)


@given(TEXTS)
def test_words_of_plain_letters_are_those_that_are_found_among_all(text: str) -> None:
    assert words.words(text) == tuple(words._WORD.findall(text))


@given(TEXTS, st.integers(min_value=-1, max_value=12))
def test_keywords_are_the_most_frequent_telling_words_in_reading_order(
    text: str, limit: int
) -> None:
    plain = [words.fold(word) for word in words.words(text)]
    telling = Counter(
        word
        for word in plain
        if len(word) > 2 and word not in words.STOP_WORDS and not word.isdigit()
    )
    assert words.keywords(text, limit=limit) == tuple(
        word for word, _ in telling.most_common(limit)
    )


@given(TEXTS)
def test_a_text_without_the_signs_of_a_stub_is_none(text: str) -> None:
    read = quality.read_features(text)
    assert stubs._may_hold_media(read) or stubs._MEDIA.search(text) is None
    assert stubs._may_hold_trail(read) or not any(stubs._TRAIL.search(line) for line in read.lines)
    assert stubs._is_marked(read) or (stubs._LINKS.search(text) is None and "et al." not in text)


PLAIN = st.lists(
    st.sampled_from(
        [
            "see",
            "page",
            "omitted",
            "image",
            "2019",
            "Home",
            "dog",
            "barks",
            "above",
            ".",
            ",",
            "!",
            "'s",
            "\n",
        ]
    ),
    max_size=9,
)


@given(st.one_of(TEXTS, PLAIN.map(" ".join)))
def test_a_plain_sentence_is_the_stub_that_all_rules_say_it_is(text: str) -> None:
    read = quality.read_features(text)
    with patch.object(stubs, "_is_plain_sentence", return_value=False):
        by_rules = stubs.stub_type(read)
    assert stubs.stub_type(read) is by_rules


@given(TEXTS)
def test_signs_are_counted_as_the_pattern_counts_them(text: str) -> None:
    assert parts._signs(text) == len(parts._SIGN.findall(text))
    assert quality.read_features(text).signs == {
        each for each in text if not each.isalnum() and not each.isspace()
    }


@given(TEXTS)
def test_a_line_without_the_signs_of_code_holds_none(line: str) -> None:
    assert (
        any(sign in line for sign in quality._CODE_SIGNS)
        or quality._CODE_INSIDE.search(line) is None
    )
    read = quality.read_features(line)
    assert quality.is_code(read.lines, read.signs) == quality.is_code(read.lines)


@given(TEXTS, st.sampled_from([*"-a1(#", "a.", "b)", "12.", "(c)", "é."]))
def test_a_line_that_begins_with_a_letter_has_a_bullet_only_with_a_sign_behind_it(
    text: str, first: str
) -> None:
    line = f"{first} {text}"
    assert (
        not (line[0].isalpha() and line[1] not in quality._BEHIND_LETTER)
        or quality._BULLET.match(line) is None
    )


@given(st.text(alphabet="ab.!?…。:\"')]*_", min_size=1, max_size=6))
def test_a_stretch_ends_a_sentence_where_the_pattern_says_so(stretch: str) -> None:
    abbreviated = piece._ABBREVIATION.match(stretch) is not None
    assert _piece(stretch).ends == (
        stretch[-1] in piece._LAST and piece._END.search(stretch) is not None and not abbreviated
    )


@given(TEXTS)
def test_a_sentence_adds_up_to_what_its_stretches_are(text: str) -> None:
    if not text.split():
        return
    (said,) = quality._split_sentences(text.split(), whole=True)
    specifics: dict[str, float] = {}
    unit = quality._unit(said, specifics)
    alone = [*map(_piece, text.split())]
    assert unit.words == sum(piece.words for piece in alone) and unit.binding == any(
        piece.binding for piece in alone
    )
    assert (
        unit.telling == {word for piece in alone for word in piece.telling}
        and unit.closed == alone[-1].ends
    )
    assert unit.told == sum(len(piece.telling) for piece in alone) and unit.damaged == sum(
        piece.damaged for piece in alone
    )
    opening = alone[0].amid if alone[0].label else alone[0].specific
    weights = [(alone[0].core, opening), *((piece.core, piece.amid) for piece in alone[1:])]
    assert specifics == {core: weight for core, weight in weights if weight}


@pytest.mark.parametrize(
    "core",
    [
        "Makefile",
        "makefile",
        "dockerfile",
        "getUserName",
        "python",
        "Anna",
        "HTTP",
        "v",
        "xyz",
        "straße",
        "ŉ",
    ],
)
def test_letters_alone_are_a_name_only_where_a_rule_says_so(core: str) -> None:
    by_rule = next(
        filter(
            None,
            (
                rule(core)
                for rule in (
                    coding._sign_name,
                    coding._path,
                    coding._number_name,
                    coding._dotted_name,
                    coding._compound_name,
                )
            ),
        ),
        None,
    )
    listed = len(core) < 2 or core.casefold() in TOOLS or core.casefold() in SKILLS
    assert coding.find_identifier(core) == (None if listed else by_rule)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=MAX_CACHED_CHARACTERS))
def test_a_small_word_is_a_small_word(word: str) -> None:
    (found,) = reading.tokenize_text(word).stretches
    assert found is LOWERCASE or found.tells
    assert reading.tokenize_text(word).words[0] == word
    assert found.shape is Shape.LOWER or found.code is not None


@given(TEXTS)
def test_stretches_lie_where_they_are_written(text: str) -> None:
    read = reading.tokenize_text(text)
    pattern = reading._TOKEN_BY_SCRIPT if UNSPACED_LETTER.search(text) else reading._TOKEN
    reach = read.telling[-1] + reading.MAX_LOOKAHEAD if read.telling else 0
    assert (
        list(zip(read.starts, read.ends, strict=True))
        == [found.span() for found in pattern.finditer(text)][:reach]
    )


@given(
    st.lists(
        st.sampled_from(
            ["Anna", "of", "the", "and", "&", "I", "11", "van", "for", "Ministry", "1st"]
        ),
        max_size=40,
    ).map(" ".join)
)
def test_no_name_reaches_further_than_is_looked(text: str) -> None:
    assert all(
        text[found.start : found.end] == found.name
        for found in extract_entities(text, least=0.0, limit=50)
    )
    assert extract_entities(
        f"{text} {'small ' * reading.MAX_LOOKAHEAD}", least=0.0, limit=50
    ) == extract_entities(f"{text} small", least=0.0, limit=50)


OPENINGS = (
    "Deploy",
    "Anna",
    "The",
    "Falcon",
    "Dr",
    "HTTP",
    "getName",
    "McKay",
    "Matt's",
    "Note:",
    "Lisbon",
    "Duke",
    "Mr.",
    "I",
)
FOLLOWING = (
    "is",
    "was",
    "has",
    "a",
    "the",
    "said",
    "project",
    "film",
    "of",
    "van",
    "and",
    "11",
    "web-03",
    "plan",
    "(x)",
    "deploy",
    "king",
)


@given(
    st.sampled_from(OPENINGS),
    st.lists(st.sampled_from((*FOLLOWING, ",", '"', "é")), max_size=6),
    st.sampled_from([0.66, 0.7, 0.75]),
)
def test_a_text_that_merely_begins_with_a_capital_names_nothing(
    first: str, rest: list[str], least: float
) -> None:
    text = " ".join([first, *rest])
    with patch.object(extracting, "has_only_first_capital", return_value=False):
        by_rules = extract_entities(text, least=least)
    assert extract_entities(text, least=least) == by_rules


@given(TEXTS)
def test_without_a_quotation_mark_nothing_is_quoted(text: str) -> None:
    assert '"' in text or not text.isascii() or marked._QUOTATION.search(text) is None


@given(TEXTS)
def test_every_rule_whose_anchor_a_text_holds_is_tried_in_order(text: str) -> None:
    held = [
        rule for rule in (*finding._RULES, *SHORT) if any(anchor in text for anchor in rule.anchors)
    ]
    assert list(finding._applicable_rules(f"{text} {'x' * finding._MIN_TOKEN}")) == held
    assert [*finding._applicable_rules(text)] == held or not any(
        found for rule in held for found in rule(text)
    )


@given(
    st.text(alphabet="x0aB-", min_size=8, max_size=13),
    st.sampled_from(["xoxb-", "sk-", "hf_", "ghp_", "Bearer ", "?sig=", "://a:"]),
)
def test_no_rule_finds_a_token_that_is_too_short_to_be_tried(value: str, prefix: str) -> None:
    text = f"Use {prefix}{value}@host today"
    assert {found.rule for rule in finding._RULES for found in rule(text)} == {
        found.rule for rule in finding._applicable_rules(text) for found in rule(text)
    }


def test_the_name_of_every_secret_holds_a_hint() -> None:
    assert all(name.hint in name.word for name in assigned.NAMES)


@pytest.mark.parametrize(
    "text",
    ["xoxb-abcdefghij", "a://:b@c.example", "3782 822463 10005", "Card: 4111-1111-1111-1111."],
)
def test_the_shortest_secrets_are_found(text: str) -> None:
    assert finding.find_secrets(text, cards=True)


@given(st.text(alphabet="0123456789 -.xé٣", max_size=40))
def test_what_has_too_few_digits_is_no_card(text: str) -> None:
    assert finding._may_hold_card(text) or not list(CARD(text))


@given(TEXTS.filter(str.isascii))
def test_a_plain_text_holds_no_name_and_no_order_of_another_script(text: str) -> None:
    assert not any(name.word in text.lower() for name in assigned.NAMES if not name.word.isascii())
    read = text.lower()
    assert [rule.flag for rule in ASCII_RULES if rule.finds(read)] == [
        rule.flag for rule in RULES if rule.finds(read)
    ]


MACHINES = (
    "ai",
    "llms",
    "language model",
    "ai agents",
    "assistant",
    "chatbots",
    "bot",
    "crawler",
    "ki-bots",
    "ia",
    "modelo de lenguaje",
)
ADDRESSES = (
    *(
        "note to {}: be kind",
        "dear {}, please",
        "attention, {}: read",
        "to all {}: stop",
        "to every {}, hello",
        "if you are an {}",
        "wenn du {} bist",
    ),
    *(
        "si tu es une {}",
        "any {} that reads this must",
        "{} reading this should",
        '"{} who see it have to',
        "llm note:",
        "agent directive :",
    ),
    *(
        "whoever reads this",
        "anyone who visits this",
        "when you parse this, go",
        "whenever you recall this: go",
        "model instructions:",
    ),
)


@given(TEXTS, st.sampled_from([*ADDRESSES, *ORDERS]), st.sampled_from(MACHINES), TEXTS)
def test_whatever_a_rule_finds_holds_the_word_starts_that_it_needs(
    before: str, order: str, machine: str, after: str
) -> None:
    text = f"{before}. {order.replace('{}', machine)} {after}".lower()
    starts = word_starts(text)
    for rule in RULES:
        assert (
            not any(group.isdisjoint(starts) for group in rule.starts)
            or compile_pattern(rule.pattern).search(text) is None
        )


SAID = st.lists(
    st.sampled_from(
        [
            "thanks",
            "server",
            "qwerty",
            "lorem",
            "ipsum",
            "test",
            "aba",
            "www.a.b",
            "Joanna",
            "haha",
            "42",
            "disk",
        ]
    )
)


@given(st.one_of(TEXTS, SAID.map(" ".join)), st.integers(min_value=0, max_value=5))
def test_what_plainly_tells_something_no_rule_of_substance_objects_to(
    text: str, least: int
) -> None:
    if substance._has_clear_content(text, least):
        assert all(objection(text) is None for objection in substance.RULES.values())
        assert substance._reject_few_content_words(text, least) is None


@given(st.text(alphabet="abAB1é .'", max_size=12))
def test_few_letters_are_seen_however_they_are_looked_for(text: str) -> None:
    letters = set(filter(str.isalpha, text.casefold()))
    few = len(letters) < substance.MIN_LETTERS and not any(map(str.isdigit, text))
    assert not few or substance.repeated(text) == "".join(sorted(letters))


@given(st.one_of(TEXTS, st.text(alphabet="ahelowxd s'é", max_size=30)))
def test_words_that_tell_are_those_that_tell_one_by_one(text: str) -> None:
    assert content_words(text) == {
        word for word in words.plain_words(text) if is_content_word(word)
    }


@given(st.text(alphabet="ahelox", max_size=8))
def test_a_word_tells_something_unless_it_is_idle_or_light(word: str) -> None:
    assert is_content_word(word) == (
        bool(word) and not idle._is_idle(word) and word not in idle.LIGHT_WORDS
    )
