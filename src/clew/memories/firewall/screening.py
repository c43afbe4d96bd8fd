"""The fields of a memory without the secrets in them.

Before any check, so that no error, event or index ever holds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from clew.errors import InputError
from clew.memories.firewall.secret_assignments import assigned, lowered, names_secret
from clew.memories.firewall.secret_patterns import Secret
from clew.memories.firewall.secrets import MOST_REPEATED, redacted, rules_of, secrets_in, values
from clew.memories.validation import MAX_NAME_CHARACTERS
from clew.settings import FirewallSettings
from clew.text.words import sentence_list

REDACT, REFUSE, ALLOW = "redact", "refuse", "allow"
# two names that differ in a secret only would become one: these are refused instead
NAMES = ("space", "idempotency_key")
RULE = "secret"
WAY_OUT = "To keep such texts as they are, set firewall.secrets to allow."


def screened(
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
        if not secrets_in("\n".join(lines), cards=settings.cards):
            return fields, ()
        found = {name: screen.seen(value, name) for name, value in fields.items() if value}
        for name in NAMES:
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
        seen, rules = screened({name: value}, settings)
        if rules:
            raise InputError(
                name,
                seen[name],
                f"holds a secret ({sentence_list(rules)})",
                f"Leave it out. {WAY_OUT}",
            )


def scrubbed(value: Any) -> Any:
    """Return any value as it may be shown to others, without secrets.

    For errors, which repeat what they refuse.

    >>> scrubbed({"text": 5, "note": ["password=tr0ub4dor"]})
    {'text': 5, 'note': ['password=[secret:password]']}
    """
    try:
        return Screen(cards=True).seen(value, "value")
    except RecursionError:
        return "…"


def taken_out(rules: tuple[str, ...]) -> str:
    """Say in an outcome which kinds of secrets were not kept, and the way out.

    >>> taken_out(("aws_key", "password"))
    'Secrets were taken out and not kept: aws_key and password. To keep such texts as they are, set firewall.secrets to allow.'
    """
    return f"Secrets were taken out and not kept: {sentence_list(rules)}. {WAY_OUT}"


def _gather(value: Any, name: str, lines: list[str]) -> None:
    """Add every text in a value of any shape, beside the name it was given under."""
    if isinstance(value, str):
        lines.append(f'{name} = "{value}"' if names_secret(name) else value)
    elif type(value) in _PLAIN:
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
            type(value)(self.seen(each, name) for each in value) if type(value) in _PLAIN else value
        )

    def _text(self, text: str, name: str) -> str:
        found = secrets_in(text, cards=self._cards, known=self.known) or _named_secret(name, text)
        # what was found first names it; no more than are looked for, or a file of many messages
        # costs the square of them
        if found:
            self.known = dict(islice({**values(text, found), **self.known}.items(), MOST_REPEATED))
        self.rules.update(dict.fromkeys(rules_of(found)))
        return redacted(text, found) if found else text


_PLAIN = (list, tuple, set, frozenset)


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
        for each in assigned(line, lowered(line))
        if each.start > len(name)
    )[:1]


def _check(name: str, given: object, found: Mapping[str, Any]) -> None:
    if name in found and found[name] != given:
        raise InputError(
            name,
            found[name],
            "holds a secret, which a name must not",
            f"Name it otherwise. {WAY_OUT}",
        )
