"""Find secrets by the name beside them: DB_PASS=…, "api_key": "…", the Wi-Fi password is …

Most texts that name a password hold none, so the value must look like one: the bar is low in code
and configuration, and higher in prose.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from clew.memories.firewall.secret_patterns import PLACEHOLDER, Secret, compile_pattern

PASSWORD, CREDENTIAL = "password", "credential"
_KEY_KINDS = (
    r"(?:api|access|secret|private|auth|account|encryption|signing|client|service|shared|app|"
    r"master|license|"
    r"recovery|setup|wi-?fi|wlan|wpa2?|network|totp|2fa|mfa|consumer|subscription|hmac|crypto|"
    r"storage|webhook|deploy|admin)[_ -]{0,2}\Z"
)
_OTHER_PASSES = (
    r"(?:boarding|ski|bus|day|season|hall|guest|press|travel|train|rail|parking|visitor|"
    r"mountain|backstage|free|"
    r"low|high|band|first|second|third|single|multi)[ -]\Z"
)


@dataclass(frozen=True, slots=True)
class Name:
    """A word that names a secret, in lower case, and where it does."""

    word: str
    kind: str
    hint: str = ""
    """A part of it that several names share: without it none of them is looked for."""
    code_only: bool = False
    """Whether it names a secret only before a sign of code, as in `pass: …`; in prose it has other
    meanings.
    """
    needs_before: str = ""
    excluded_before: str = ""


_HINTED = {
    "pass": ("password", "passwd", "passphrase", "passcode", "passwort", "passord", "mot de passe"),
    "pw": ("pwd",),
}
_ALONE = (
    *(
        "kennwort",
        "contraseña",
        "clave",
        "senha",
        "пароль",
        "wachtwoord",
        "parola",
        "şifre",
        "hasło",
        "lösenord",
        "heslo",
    ),
    *(
        "adgangskode",
        "salasana",
        "jelszó",
        "lozinka",
        "geslo",
        "κωδικός",
        "mật khẩu",
        "kata sandi",
        "密码",
        "口令",
    ),
    *("パスワード", "비밀번호", "암호", "סיסמה", "كلمة المرور"),
)
_LETTERS_BEFORE = r"[^\W_]\Z"
NAMES = (
    *(Name(word, PASSWORD, hint) for hint, words in _HINTED.items() for word in words),
    Name(
        "pass",
        PASSWORD,
        "pass",
        code_only=True,
        excluded_before=rf"{_LETTERS_BEFORE}|{_OTHER_PASSES}",
    ),
    Name("pw", PASSWORD, "pw", code_only=True, excluded_before=_LETTERS_BEFORE),
    Name("psk", PASSWORD, code_only=True, excluded_before=_LETTERS_BEFORE),
    *(Name(word, PASSWORD) for word in _ALONE),
    # the name of a secret in an ARN, …:123456789012:secret:shop-db
    Name("secret", CREDENTIAL, excluded_before=r"\d:\Z"),
    Name(
        "token",
        CREDENTIAL,
        excluded_before=r"(?:next|forward|backward|page|pagination|continuation|sync)[_ -]?\Z",
    ),
    Name("credential", CREDENTIAL),
    Name("pat", CREDENTIAL, code_only=True, excluded_before=_LETTERS_BEFORE),
    Name("auth", CREDENTIAL, code_only=True, excluded_before=_LETTERS_BEFORE),
    Name("key", CREDENTIAL, needs_before=_KEY_KINDS),
    Name("schlüssel", CREDENTIAL, needs_before=_KEY_KINDS),
)
_BEFORE = 16  # characters before a name that are looked at


def _by_hint(names: tuple[Name, ...]) -> tuple[tuple[str, tuple[Name, ...]], ...]:
    hints = dict.fromkeys(name.hint or name.word for name in names)
    return tuple(
        (hint, tuple(name for name in names if (name.hint or name.word) == hint)) for hint in hints
    )


_ASCII_NAMES = _by_hint(tuple(name for name in NAMES if name.word.isascii()))
_ALL_NAMES = _by_hint(NAMES)

# What may stand between a name and the verb: "password for the lab is …", "Passwort für das WLAN:
# …".
ABOUT = (
    r"(?:[ ](?:for|to|of|on|at|für|zum|zur|vom|der|des|de|del|du|pour|para|da|do|till|til|van|"
    r"voor)[ ]"
    r"[^\n.;:=!?\"]{1,60}?)?"
)
VERB = (
    r"(?:(?:(?:is|was|are|has[ ]been|wurde)[ ])?(?:changed|set|reset|updated|geändert)[ "
    r"](?:to|auf|zu)|(?:is|are)[ ]now|now[ ]is|"
    r"is|was|are|ist|lautet|lauten|war|es|est|é|era|är|er|jest|reads|to|auf|=)"
)
_SUFFIX = r"(?:s|n|en|et)?(?P<suffix>[_-]\w{1,30}+)?"
_BOUND = (
    rf"(?i){_SUFFIX}"
    r"(?:(?P<code>[\"'`]?\s{0,2}(?::=|=>|==|=|:)\s{0,2}|[\"']\s{1,2}value\s?=\s?|>)"
    rf"|(?P<prose>{ABOUT}(?:[ ]{VERB}[ ]|[ ]?:[ ])|(?:是|为|は|:|：|은|는)\s?)|(?P<bare>[ ]))"
    r"(?P<quote>[\"'`“„«]?)"
)
_VALUE = r"[^\s\"'`“”„«»<>]{4,200}+"
_QUOTED_PHRASE = r"[^\n\"'`“”„«»]{8,120}+(?=[\"'`”“»])"
_PLAIN_PHRASE = r"[a-z]{3,12}(?: [a-z]{3,12}){3,9}+(?=[.,;]?(?:\n|$))"
_GROUPS = r"[A-Za-z0-9]{4}(?:[ ][A-Za-z0-9]{4}){3,7}+(?!\w)"
# Where a value in a connection string or a query ends: before the next name, ";Database=" or
# "&ssl=".
_NEXT_FIELD = r"(?:;\s?|&)(?=[A-Za-z][\w .%-]{0,40}=)|(?<!;);++$"
_TRAILING = ".,;:!?)]}。,、"
_CHARACTER_CLASSES = (str.islower, str.isupper, str.isdigit, lambda each: not each.isalnum())
_CODE = (
    r"(?s)[\w.]*+[(\[].*|.*?(?:::|->|\(\)).*|"
    r"(?:self|this|os|process|env|config|settings|args|options|ctx|req|request|params|data|"
    r"vault|op)\..*"
)
_UNITS = (
    r"(?:bits?|bytes?|char(?:acter)?s?|seconds?|days?|hours?|minutes?|weeks?|months?|years?|"
    r"times?|digits?|tokens?|words?|lines?)"
)
UNIT_FOLLOWS = rf"(?i)[ -]{_UNITS}\b"
_MEASURE = (
    rf"(?i)\d[\d.,:/x-]*(?:[a-zµ%°]{{0,3}}|[ -]?{_UNITS})"
    r"|v\d[\w.-]*"
    r"|(?:sha|md|aes|rsa|hs|rs|es|ed|base|utf|oauth|tls|argon|bcrypt|scrypt|pbkdf|ntlm|fido|"
    r"http|ipv)-?\d++[\w-]*+|1password"
)
_MEASURED_SUFFIX = (
    r"(?i)[_-](?:\w*_)?(?:hash(?:es|ed|er)?|len|length|min|max|size|policy|timeout|ttl|age|"
    r"expiry|expires?\w*|fields?|files?|paths?|"
    r"dir|ur[il]|endpoint|hint|labels?|name|id|type|count|limit|budget|reset|header|prefix|"
    r"version|alg\w*|rounds|ref|store)"
)
_NOT_SECRET = frozenset(
    "none null nil true false undefined string str int integer bool bytes text number any "
    "optional object required empty missing unset "
    "password passwd secret token example changeme placeholder redacted hidden masked unknown "
    "default sample dummy test foobar".split()
)
# A value that consists of these words stands for a secret that the reader has to fill in:
# your-password-here, MY_API_KEY.
_STAND_INS = _NOT_SECRET | frozenset(
    "your my some the a an our user users admin db database root app api access auth client "
    "private service smtp mysql redis super very "
    "strong secure long random real actual own new old pass pwd pw key here goes value change "
    "me this enter insert put replace with "
    "and or in to of for it".split()
)
# Words of a sentence about a secret; a phrase that serves as one holds none of them.
_SENTENCE_WORDS = frozenset(
    "the and for was were are has had his her its from been which into your you must not with "
    "that this than then when what who only "
    "can will may should least contain contains character characters word words password "
    "passphrase passwords enter type choose invalid "
    "required see ask stored kept same written never always please new old missing wrong "
    "every list vault safe".split()
)
# bits a character: above it lie random tokens of 16 and more characters, below it words and names
MIN_ENTROPY = 3.0
MIN_TOKEN = 16
MIN_PASSWORD = 6
MIN_DIGITS = 6  # of a password without letters
MIN_PHRASE_WORDS = 4
MIN_SCRAMBLED = 8
# ULID, UUID
_IDENTIFIERS = r"(?i)0[0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def find_assigned_secrets(text: str, small: str) -> Iterator[Secret]:
    """Yield every value beside the name of a secret that looks like one.

    `small` is the same text in lower case.

    >>> texts = ["DB_PASSWORD=tr0ub4dor", "The password is in the vault", "pass: hunter2", "The pass is snowed in"]
    >>> [text[found.start : found.end] for text in texts for found in find_assigned_secrets(text, text.lower())]
    ['tr0ub4dor', 'hunter2']
    """
    for hint, names in _ASCII_NAMES if text.isascii() else _ALL_NAMES:
        if hint in small:
            for name in names:
                yield from _find_beside(text, small, name)


def _find_beside(text: str, small: str, name: Name) -> Iterator[Secret]:
    at = small.find(name.word)
    while at >= 0:
        found = _secret_at(text, small, name, at)
        if found is not None:
            yield found
        at = small.find(name.word, at + len(name.word) if found is None else found.end)


def _secret_at(text: str, small: str, name: Name, at: int) -> Secret | None:
    """Return the secret beside the name at an offset, unless that is a `[secret:…]` mark."""
    bound = compile_pattern(_BOUND).match(text, at + len(name.word))
    if (
        bound is None
        or text[at - 1 : at] == "["
        or (name.code_only and not bound["code"])
        or not _is_name_of_secret(name, small, at)
    ):
        return None
    if bound["suffix"] and compile_pattern(_MEASURED_SUFFIX).fullmatch(bound["suffix"]):
        return None
    # the rule `url_token` knows where its value ends
    if name.kind == CREDENTIAL and _in_query(small, at):
        return None
    start = bound.end()
    value = _phrase_value(text, start, name, bound) or _token_value(text, start, name, bound)
    return Secret(name.kind, start, start + len(value)) if value else None


def _token_value(text: str, start: int, name: Name, bound: re.Match[str]) -> str:
    """Return the secret without white space that begins here, or nothing."""
    found = compile_pattern(_VALUE).match(text, start)
    if found is None:
        return ""
    value = compile_pattern(_NEXT_FIELD).split(found.group(), maxsplit=1)[0].rstrip(_TRAILING)
    quoted = bool(bound["quote"])
    if value.isdigit() and name.kind == PASSWORD:
        measured = (
            bound["suffix"]
            or bound["bare"]
            or compile_pattern(UNIT_FOLLOWS).match(text, start + len(value))
        )
        return value if len(value) >= MIN_DIGITS and not measured else ""
    if bound["bare"] and not (quoted or _stands_out(value, name.kind)):
        return ""
    return (
        value
        if looks_secret(value, kind=name.kind, code=bool(bound["code"]), quoted=quoted)
        else ""
    )


def _stands_out(value: str, kind: str) -> bool:
    """Tell whether a value bound by a space alone is a secret ("with password hunter2")."""
    if compile_pattern(_IDENTIFIERS).fullmatch(value) or is_compound(value):
        return False
    return (
        any(map(str.isdigit, value))
        if kind == PASSWORD
        else is_scrambled(value) or entropy(value) >= MIN_ENTROPY
    )


def _phrase_value(text: str, start: int, name: Name, bound: re.Match[str]) -> str:
    """Return the secret of several words that begins here, or nothing."""
    if bound["bare"] or bound["suffix"]:
        return ""
    groups = compile_pattern(_GROUPS).match(text, start)
    if groups and _are_random(groups.group()):
        return groups.group()
    if name.kind != PASSWORD:
        return ""
    quoted = compile_pattern(_QUOTED_PHRASE).match(text, start) if bound["quote"] else None
    plain = (
        compile_pattern(_PLAIN_PHRASE).match(text, start)
        if name.word == "passphrase" and not bound["quote"] and ":" in bound[0]
        else None
    )
    found = quoted or plain
    if found is None:
        return ""
    words = found.group().casefold().split()
    many = len(words) >= (2 if any(map(str.isdigit, found.group())) else MIN_PHRASE_WORDS)
    return (
        found.group()
        if many and _SENTENCE_WORDS.isdisjoint(words) and _is_value(found.group())
        else ""
    )


def _are_random(groups: str) -> bool:
    """Tell whether groups of four characters are no words.

    >>> _are_random("xkcd wqpz trvn bhgf"), _are_random("JBSW Y3DP EHPK 3PXP"), _are_random("what they said when")
    (True, True, False)
    """
    return any(map(str.isdigit, groups)) or any(
        not set("aeiouy") & set(group) for group in groups.casefold().split()
    )


def _is_name_of_secret(name: Name, small: str, at: int) -> bool:
    """Tell whether what stands before a name lets it name a secret."""
    before = small[max(0, at - _BEFORE) : at]
    if name.needs_before and not compile_pattern(name.needs_before).search(before):
        return False
    return not (name.excluded_before and compile_pattern(name.excluded_before).search(before))


@lru_cache(maxsize=1024)
def names_secret(name: str) -> bool:
    """Tell whether what stands under this name may be a secret.

    >>> [names_secret(name) for name in ("DB_PASSWORD", "api-key", "db_pass", "keyboard", "compass")]
    [True, True, True, False, False]
    """
    small = lower_case(name)
    return any(_is_named(each, small) for each in NAMES)


def _is_named(name: Name, small: str) -> bool:
    at = small.rfind(name.word)
    whole = name.code_only or name.needs_before  # short words, which stand inside of many others
    return (
        at >= 0
        and _is_name_of_secret(name, small, at)
        and (not whole or at + len(name.word) == len(small))
    )


def lower_case(text: str) -> str:
    """Return the text in lower case, as long as it was.

    The capital İ alone would become two characters.
    """
    return text.replace("\u0130", "i").lower()


def _in_query(small: str, at: int) -> bool:
    """Tell whether a name stands in the query of a URL."""
    return compile_pattern(r"[?&][\w-]{0,20}\Z").search(small[max(0, at - 21) : at]) is not None


def looks_secret(value: str, *, kind: str, code: bool, quoted: bool) -> bool:
    """Tell whether a value beside the name of a secret is one, rather than a word about it.

    >>> [looks_secret(value, kind="password", code=False, quoted=False) for value in ("hunter2", "mandatory", "v2.1", "<password>")]
    [True, False, False, False]
    """
    if len(value) < (MIN_TOKEN if kind == CREDENTIAL else MIN_PASSWORD) or not _is_value(value):
        return False
    digits = any(map(str.isdigit, value))
    classes = sum(any(map(each, value)) for each in _CHARACTER_CLASSES)
    if kind == CREDENTIAL:
        return is_scrambled(value) or (
            digits
            and (classes >= 2 or value.isdigit())
            and entropy(value) >= 2.5
            and not is_compound(value)
        )
    if code and quoted:
        return True
    if compile_pattern(r"[A-Za-z]+-\d{1,2}").fullmatch(
        value
    ):  # a name with a number, such as level-12
        return False
    mixed = digits and any(map(str.isalpha, value))
    return mixed or is_scrambled(value) or (classes >= 3 and not is_compound(value))


def _is_value(value: str) -> bool:
    """Tell whether a value is no placeholder, expression, path, measure or word like "none"."""
    return not (
        compile_pattern(PLACEHOLDER).fullmatch(value)
        or _is_stand_in(value)
        or (value.startswith(("/", "~", "./")) and not is_scrambled(value))
        or value.casefold().startswith(("http://", "https://", "$", "env:", "vault:", "op:"))
        or compile_pattern(_CODE).fullmatch(value)
        or (
            compile_pattern(_MEASURE).fullmatch(value)
            and not compile_pattern(r"[\d-]{16,}").fullmatch(value)
        )
    )


def _is_stand_in(value: str) -> bool:
    """Tell whether a value only says what belongs in its place.

    >>> [_is_stand_in(value) for value in ("your-password-here", "somepassword", "MY_DB_PASS", "yourMum2020", "SomethingBlue7")]
    [True, True, True, False, False]
    """
    words = [word for word in re.split(r"[^a-z]+", value.casefold()) if word]
    if any(map(str.isdigit, value)) or not words:
        return False
    return all(
        word in _STAND_INS or compile_pattern(_JOINED_STAND_IN).fullmatch(word) is not None
        for word in words
    )


_JOINED_STAND_IN = (
    r"(?:your|my|some|the|super)(?:secret|strong|secure|db|api)?(?:password|passwd|pass|secret|"
    r"token|key|value|string)?"
)


def is_compound(value: str) -> bool:
    """Tell whether it is words, numbers and versions with signs between them.

    `Read-only`, `tls-cert-2026`.

    >>> [is_compound(value) for value in ("Single-use", "staff-2024-v2", "c0rrect!Horse", "9f8e-7d6c")]
    [True, True, False, False]
    """
    parts = [part for part in re.split(r"[-_/.,:&+]", value) if part]
    return any(map(str.isalpha, parts)) and all(
        compile_pattern(r"[^\W\d_]+\d{0,2}|\d{1,4}|v\d+").fullmatch(part) for part in parts
    )


def is_scrambled(value: str) -> bool:
    """Tell whether small letters, capitals and digits alternate as they do in random text only.

    >>> [is_scrambled(value) for value in ("WnPnCakQDS", "passwordFieldName", "/srv/acme/Keys2")]
    [True, False, False]
    """
    kinds = [
        "a" if each.islower() else "A" if each.isupper() else "0" if each.isdigit() else ""
        for each in value
    ]
    changes = sum(one != other and bool(one and other) for one, other in pairwise(kinds))
    return (
        len(value) >= MIN_SCRAMBLED and {"a", "A"} <= set(kinds) and changes * 5 >= len(value) * 2
    )


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters, in bits each.

    >>> entropy("aaaa"), entropy("abab"), round(entropy("k3J9xQ2m"), 1)
    (0.0, 1.0, 3.0)
    """
    counts = Counter(text).values()
    return abs(sum(count / len(text) * math.log2(len(text) / count) for count in counts))


_CODES_BOUND = rf"(?:{ABOUT}(?:[ ]{VERB}[ ]|\s{{0,2}}[:=]\s{{0,2}}))[\"'`“„«]?"
_LISTED = rf"(?:{_CODES_BOUND}|\s{{0,2}}\n)(?:\d{{1,2}}[.)] |[-*•] )?"
_DOORS = (
    r"(?:alarm|door|gate|entry|entrance|access|garage|safe|lock|locker|security|unlock|keypad|"
    r"elevator|lift|building|voicemail|"
    r"verification|login|one-time|otp|2fa|mfa|sms|tür)"
)
_LOCKS = r"(?:safe|lock|locker|vault|padlock|tresor|schloss)"
_DIGITS = (
    r"(?P<secret>\d{1,2}(?:[ -]\d{1,2}){2,4}|[A-Z]?\d{4} ?\d{4}|[A-Z]?\d{4,8}[#*]?)(?!\w|[.,:/-]\w)"
)
_ITEM = r"[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,8}+"
_NEXT_ITEM = r"[,;]?\s{1,3}(?:and |und |or )?(?:\d{1,2}[.)] |[-*•] )?"
_WORD = r"(?:\d{1,2}[.)] ?)?[A-Za-z]{3,8}"
_SEED = rf"(?i:s?{_LISTED})(?P<secret>{_WORD}(?:,?\s{_WORD}){{11,23}}+)"
SEED_LENGTHS = (12, 15, 18, 21, 24)  # words
# Frequent in sentences, and in none of the lists that such phrases are drawn from.
_CODES_SENTENCE_WORDS = frozenset(
    "the and for was were are has had his her its from been which into your".split()
)
MIN_RECOVERY = 8  # characters
_CODES_BEFORE = 30  # characters before a word that are looked at


def _is_recovery(value: str) -> bool:
    return len(value) >= MIN_RECOVERY and any(map(str.isdigit, value))


def _is_seed(value: str) -> bool:
    words = [word for word in compile_pattern(r"[^a-z]+").split(value.lower()) if word]
    return len(words) in SEED_LENGTHS and _CODES_SENTENCE_WORDS.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Code:
    """A word that names a code, what has to stand before it, and how its value is bound to it."""

    rule: str
    word: str
    before: str
    after: str
    holds: Callable[[str], bool] = bool

    def find(self, text: str, small: str) -> Iterator[Secret]:
        """Yield the codes that this word names; `small` is the text in lower case."""
        at = small.find(self.word)
        while at >= 0:
            end = at + len(self.word)
            if compile_pattern(self.before).search(small[max(0, at - _CODES_BEFORE) : at]):
                found = compile_pattern(self.after).match(text, end)
                if (
                    found
                    and self.holds(found["secret"])
                    and not compile_pattern(UNIT_FOLLOWS).match(text, found.end())
                ):
                    yield Secret(self.rule, *found.span("secret"))
                    end = found.end()
            at = small.find(self.word, end)


_PIN = rf"(?i:(?:[ -]?(?:code|number|nummer|kode))?{_CODES_BOUND}){_DIGITS}"
_OWN = r"(?<![^\W_])(?<!gpio )(?<!bcm )(?<!io )\Z"
_SAFE = (
    rf"(?i: (?:of|for|to) (?:the|my|our|his|her) (?:[\w-]{{1,20}} ){{0,2}}{_LOCKS}(?:[ ]{VERB}[ ]|"
    rf": ?)){_DIGITS}"
)
_RECOVERY = rf"(?i:s?{_LISTED})(?P<secret>{_ITEM}(?:{_NEXT_ITEM}(?=[A-Za-z-]*\d){_ITEM}){{0,20}}+)"
_KEPT = (
    r"(?:recovery|backup|rescue|emergency|scratch|2fa|mfa|wiederherstellungs)[ -]?(?:recovery[ "
    r"-])?\Z"
)
_SEEDS = r"(?:seed|recovery|mnemonic|secret|wallet|backup)[ -]\Z"
CODES = (
    Code("pin", "pin", _OWN, _PIN),
    Code("pin", "puk", _OWN, _PIN),
    Code("recovery_code", "code", _KEPT, _RECOVERY, _is_recovery),
    Code(
        "pin",
        "code",
        rf"{_DOORS}(?:[ -](?:pin|access|entry|lock))?[ -]?\Z",
        rf"(?i:s?{_CODES_BOUND}){_DIGITS}",
    ),
    Code("pin", "combination", rf"{_LOCKS}[ -]\Z", rf"(?i:{_CODES_BOUND}){_DIGITS}"),
    Code("pin", "combination", "", _SAFE),
    Code("seed_phrase", "phrase", _SEEDS, _SEED, _is_seed),
    Code("seed_phrase", "word", _SEEDS, _SEED, _is_seed),
    Code("seed_phrase", "mnemonic", "", _SEED, _is_seed),
    Code("seed_phrase", "seed", r"wallet[ -]\Z", _SEED, _is_seed),
)
_BY_WORD = tuple(
    (word, tuple(code for code in CODES if code.word == word))
    for word in dict.fromkeys(code.word for code in CODES)
)


def find_codes(text: str, small: str) -> Iterator[Secret]:
    """Yield the codes in a text; `small` is the same text in lower case.

    >>> texts = ["my PIN is 4821", "GPIO pin: 4821", "Backup codes: 8c6f-d9c3, e092-94df", "The zip code is 90210"]
    >>> [text[found.start : found.end] for text in texts for found in find_codes(text, text.lower())]
    ['4821', '8c6f-d9c3, e092-94df']
    """
    for word, named in _BY_WORD:
        if word in small:
            for each in named:
                yield from each.find(text, small)
