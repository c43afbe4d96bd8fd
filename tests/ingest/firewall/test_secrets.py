"""Secrets are found by small rules, and taken out of everything before anything else sees it."""

from __future__ import annotations

import time

import pytest
from benchmarks.firewall import GUIDE, false_alarms, missed, rendered

from clew.memories.firewall.secret_patterns import SERVICES, SHAPES
from clew.memories.firewall.secrets import find_secrets, mask, redact
from tests.ingest.firewall.planted import Holding, holdings, planted, texts

LENGTH = 200_000
HOSTILE = (
    *(
        "a",
        "eyJ",
        "eyJaaaaaaaaa.",
        "-----BEGIN RSA PRIVATE KEY-----",
        "password = ",
        "password for ",
        "password is is ",
        "://a:",
        "sk-",
    ),
    *(
        "ghp_ ",
        "bearer ",
        "N" * 25 + ".",
        "4111 ",
        "password=a1b2c3d4e5 ",
        "token ",
        "key_",
        "api_key_",
        "?key=",
        'secret"',
        "password={",
    ),
    *(
        "token:\n\n",
        "token for x ",
        "AKIA",
        "\u0130password=",
        "contraseña es ",
        "pass: ",
        "pin is ",
        "pin for ",
        "door code of ",
    ),
    *(
        "backup codes: ab12-cd34 ",
        "seed phrase: ",
        "seed words abandon ",
        "seed phrase: " + "orbit " * 30,
        "password: 'a b c d ",
    ),
    *(
        "passphrase: orbit cabin ",
        "curl -u a:",
        "mysql -u x -p ",
        "machine a login b password ",
        "cookie: a=",
        "$2y$10$",
        "otpauth://x?",
    ),
    *(
        "WIFI:;P:",
        "a:5432:b:c:",
        "kind: Secret\ndata:\n a: b\n",
        "://a:b@",
        "authorization: x ",
        "2FA key: AB12 ",
        "password=a;b=c&d=",
    ),
)


@pytest.mark.parametrize(
    "holding",
    [*holdings("secrets_tuned"), *holdings("secrets_fresh")],
    ids=lambda each: each.text[:40],
)
def test_every_planted_secret_is_found_by_its_rule_and_taken_out(holding: Holding) -> None:
    found = find_secrets(holding.text)
    assert holding.rule in {each.rule for each in found}
    for left in (redact(holding.text, found), mask(holding.text, found)):
        assert not any(secret in left for secret in holding.secrets)


@pytest.mark.parametrize("name", ["secrets_dev", "secrets_heldout"])
def test_labelled_secrets_are_removed_and_their_look_alikes_are_kept(name: str) -> None:
    assert missed(name) == []
    assert false_alarms(name) == []
    assert (len(holdings(name)), len(texts(planted(name)["harmless"]))) == (75, 75)


def test_the_guide_publishes_what_is_measured() -> None:
    assert rendered() == GUIDE.read_text(encoding="utf-8"), "run: python -m benchmarks.firewall"


@pytest.mark.parametrize(("name", "most"), [("secrets_tuned", 0), ("secrets_fresh", 2)])
def test_texts_about_secrets_are_left_alone(name: str, most: int) -> None:
    wrong = [text for text in planted(name)["harmless"] if find_secrets(text)]
    assert len(wrong) <= most, wrong


@pytest.mark.parametrize("holding", holdings("secrets_tuned"), ids=lambda each: each.text[:40])
def test_a_masked_text_is_as_long_as_it_was_and_nothing_else_moved(holding: Holding) -> None:
    found = find_secrets(holding.text)
    covered = mask(holding.text, found)
    assert len(covered) == len(holding.text)
    inside = {at for each in found for at in range(each.start, each.end)}
    assert all(
        covered[at] == character for at, character in enumerate(holding.text) if at not in inside
    )


@pytest.mark.parametrize("holding", holdings("secrets_tuned"), ids=lambda each: each.text[:40])
def test_what_was_redacted_holds_no_secret_any_more(holding: Holding) -> None:
    once = redact(holding.text, find_secrets(holding.text))
    assert find_secrets(once) == ()


def test_a_secret_goes_wherever_else_it_stands() -> None:
    text = "tr0ub4dor! Did you know? password: tr0ub4dor"
    assert (
        redact(text, find_secrets(text))
        == "[secret:password]! Did you know? password: [secret:password]"
    )


def test_card_numbers_are_secrets_only_where_asked_for() -> None:
    text = "Card 4111 1111 1111 1111, order 4111 1111 1111 1112"
    assert find_secrets(text) == ()
    assert (
        redact(text, find_secrets(text, cards=True))
        == "Card [secret:card_number], order 4111 1111 1111 1112"
    )


def test_every_rule_needs_one_of_its_anchors() -> None:
    for rule in (*SERVICES, *SHAPES):
        assert rule.anchors, rule.name
        assert list(rule("nothing of the kind, 12345")) == []


@pytest.mark.parametrize("part", HOSTILE, ids=lambda each: repr(each)[:24])
def test_a_hostile_line_takes_time_in_proportion_to_its_length(part: str) -> None:
    line = part * (LENGTH // len(part))
    started = time.process_time()
    find_secrets(line, cards=True)
    assert time.process_time() - started < 3  # a quadratic rule would take minutes
