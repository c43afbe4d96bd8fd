"""Remove secrets from the fields of a memory before any check, error, event or index sees them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from clew.errors import InputError
from clew.memories.firewall.secret_assignments import (
    find_assigned_secrets,
    lower_case,
    names_secret,
)
from clew.memories.firewall.secret_patterns import Secret
from clew.memories.firewall.secrets import (
    MAX_REPEATED,
    find_secrets,
    redact,
    rules_by_value,
    rules_of,
)
from clew.memories.validation import MAX_NAME_CHARACTERS
from clew.settings import FirewallSettings
from clew.text.words import sentence_list

REDACT, REFUSE, ALLOW = "redact", "refuse", "allow"
# two names that differ in a secret only would become one: these are refused instead
NAME_FIELDS = ("space", "idempotency_key")
RULE = "secret"
FIX = "To keep such texts as they are, set firewall.secrets to allow."


def screen_fields(
    fields: Mapping[str, Any], settings: FirewallSettings
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return what a caller gave with every secret taken out, and by which rules.

    As it is where secrets are allowed.
    """
    if settings.secrets == ALLOW:
        return fields, ()
    screen = Screen(cards=settings.cards)
    try:
        lines: list[str] = []
        for name, value in fields.items():
            if value:
                _gather(value, name, lines)
        # as in nearly all: one look for all fields together
        if not find_secrets("\n".join(lines), cards=settings.cards):
            return fields, ()
        found = {name: screen.seen(value, name) for name, value in fields.items() if value}
        for name in NAME_FIELDS:
            _check(name, fields.get(name), found)
        # Once more: what stood in the last field may have stood in the first too, with nothing
        # beside it to give it away.
        return {
            **fields,
            **{name: screen.seen(value, name) for name, value in found.items()},
        }, tuple(screen.rules)
    except RecursionError:  # and no store could keep it
        raise InputError(
            "metadata",
            "…",
            "is not JSON: it is nested too deeply to be read",
            "Use a flat mapping.",
        ) from None


def refuse_secrets(options: Mapping[str, Any], settings: FirewallSettings) -> None:
    """Raise if an option that goes onto every node of an import holds a secret.

    No outcome of a single node could tell of it.
    """
    for name, value in options.items():
        seen, rules = screen_fields({name: value}, settings)
        if rules:
            raise InputError(
                name, seen[name], f"holds a secret ({sentence_list(rules)})", f"Leave it out. {FIX}"
            )


def scrub(value: Any) -> Any:
    """Return any value as it may be shown to others, without secrets.

    For errors, which repeat what they refuse.

    >>> scrub({"text": 5, "note": ["password=tr0ub4dor"]})
    {'text': 5, 'note': ['password=[secret:password]']}
    """
    try:
        return Screen(cards=True).seen(value, "value")
    except RecursionError:
        return "…"


def redaction_note(rules: tuple[str, ...]) -> str:
    """Say in an outcome which kinds of secrets were not kept, and the way out.

    >>> redaction_note(("aws_key", "password"))
    'Secrets were taken out and not kept: aws_key and password. To keep such texts as they are, set firewall.secrets to allow.'
    """
    return f"Secrets were taken out and not kept: {sentence_list(rules)}. {FIX}"


def _gather(value: Any, name: str, lines: list[str]) -> None:
    """Add every text in a value of any shape, beside the name it was given under."""
    if isinstance(value, str):
        lines.append(f'{name} = "{value}"' if names_secret(name) else value)
    elif type(value) in _COLLECTIONS:
        for each in value:
            _gather(each, name, lines)
    elif type(value) is dict or isinstance(
        value, Mapping
    ):  # the first is asked in no time, the second takes longest
        for key, each in value.items():
            _gather(key, "", lines)
            _gather(each, key if isinstance(key, str) else "", lines)


class Screen:
    """Takes secrets out of values of any shape, and remembers them."""

    def __init__(self, *, cards: bool) -> None:
        self._cards = cards
        self.known: dict[str, str] = {}
        self.rules: dict[str, None] = {}

    def seen(self, value: Any, name: str) -> Any:
        """Return the value without secrets.

        `name` is what it was given under, which may tell what it is.
        """
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, Mapping):
            return {self.seen(key, ""): self.seen(each, str(key)) for key, each in value.items()}
        return (
            type(value)(self.seen(each, name) for each in value)
            if type(value) in _COLLECTIONS
            else value
        )

    def _text(self, text: str, name: str) -> str:
        found = find_secrets(text, cards=self._cards, known=self.known) or _named_secret(name, text)
        # what was found first names it; no more than are looked for, or a file of many messages
        # costs the square of them
        if found:
            self.known = dict(
                islice({**rules_by_value(text, found), **self.known}.items(), MAX_REPEATED)
            )
        self.rules.update(dict.fromkeys(rules_of(found)))
        return redact(text, found) if found else text


_COLLECTIONS = (list, tuple, set, frozenset)


def _named_secret(name: str, text: str) -> tuple[Secret, ...]:
    """Return a text that is a secret because of the name it stands under.

    >>> _named_secret("password", "tr0ub4dor"), _named_secret("title", "tr0ub4dor")
    ((Secret(rule='password', start=0, end=9),), ())
    """
    if len(text) > MAX_NAME_CHARACTERS or " " in text or not names_secret(name):
        return ()
    line = f'{name} = "{text}"'
    return tuple(
        Secret(each.rule, 0, len(text))
        for each in find_assigned_secrets(line, lower_case(line))
        if each.start > len(name)
    )[:1]


def _check(name: str, given: object, found: Mapping[str, Any]) -> None:
    if name in found and found[name] != given:
        raise InputError(
            name, found[name], "holds a secret, which a name must not", f"Name it otherwise. {FIX}"
        )
