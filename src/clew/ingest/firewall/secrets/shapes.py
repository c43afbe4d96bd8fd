"""Secrets that are known by their form, whoever issued them: private keys, JWT, URLs with a password, headers, payment cards."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ingest.firewall.secrets.rule import Rule, Secret, compiled, token

PRIVATE = "PRIVATE KEY"
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]{1,12}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[A-Za-z0-9+/=:,\s\\-]*+"
# A placeholder is shown where a password would stand: <password>, ${PW}, {pw}, $PW, ****, …
PLACEHOLDER = r"(?s)[<\[{(%$].*|.*[>\]})]|[*x.…•#X-]+"


def private_keys(text: str) -> Iterator[Secret]:
    """Yield private keys in PEM or PGP armour; one that was cut short goes as far as its letters do."""
    if PRIVATE not in text:
        return
    ends = [found.end() for found in compiled(_END).finditer(text)]
    at = following = 0
    while begin := compiled(_BEGIN).search(text, at):
        while following < len(ends) and ends[following] < begin.end():
            following += 1
        body = compiled(_BODY).match(text, begin.end())
        at = ends[following] if following < len(ends) else max(begin.end(), body.end() if body else 0)
        yield Secret("private_key", begin.start(), at)


def _is_password(value: str) -> bool:
    return compiled(PLACEHOLDER).fullmatch(value) is None and value.casefold() not in {
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "redacted",
    }


def _is_token(value: str) -> bool:
    return _is_password(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


JWT = token("jwt", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?", "eyJ")
AGE = token("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "AGE-SECRET-KEY-1")
URL = Rule(
    "url_password",
    ("://",),
    r"://[^\s/?#@:\"'<>]{0,200}+:(?P<secret>[^\s/?#@\"'<>]{1,200}+(?:@[^\s/?#@\"'<>]{1,60}+(?=@))?)@(?=[\w\[])",
    _is_password,
)
SIGNED = Rule(
    "url_token",
    ("sig=", "token=", "ignature=", "key=", "secret=", "auth="),
    r"[?&][\w-]{0,20}?(?:sig|token|[Ss]ignature|key|secret|auth)=(?P<secret>[A-Za-z0-9%_+/=.-]{16,}+)",
    _is_token,
)
HEADER = Rule(
    "bearer",
    ("earer", "EARER", "uthorization", "UTHORIZATION"),
    r"(?<!\w)(?:(?i:bearer)|(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[A-Za-z-]{2,20}+)\s{1,3}(?P<secret>[\w.~+/=-]{16,}+)",
    _is_token,
)


def _holds_session(value: str) -> bool:
    return any(_is_token(each) for each in compiled(r"(?<==)[\w%.~+/-]{16,}+").findall(value))


COOKIE = Rule(
    "cookie",
    ("ookie", "OOKIE"),
    r"(?<!\w)(?i:(?:set-)?cookie)[\"']?\s{0,2}[:=]\s{0,3}[\"']?(?P<secret>[^\s=;,\"']{1,60}+=[^\n\"']{16,2000}+)",
    _holds_session,
)
# As crypt(3), htpasswd and LDAP write them: whoever has one can try passwords against it.
HASH = Rule(
    "password_hash",
    ("$apr1$", "$1$", "$2", "$5$", "$6$", "$y$", "$argon2", "$scrypt$", "SHA}"),
    r"\$(?:apr1|1|5|6|y|2[abxy]?|argon2(?:id|i|d)|scrypt)\$[A-Za-z0-9./=,$+]{20,200}+|\{S?SHA\}[A-Za-z0-9+/]{27,60}+={0,2}+",
)
OTP = Rule("otp_secret", ("otpauth://",), r"otpauth://[^\s\"'<>]{1,200}?[?&]secret=(?P<secret>[A-Za-z2-7]{8,}+)")
WIFI = Rule("password", ("WIFI:",), r"WIFI:[^\n]{0,80}?(?<=[:;])P:(?P<secret>[^;\n]{4,63}+)")
PGPASS = Rule(
    "password",
    (":543", ":6432:", ":*:"),
    r"(?m)^[\w.*-]{1,100}+:(?:543\d|6432|\*):[\w*-]{1,63}+:[\w.*-]{1,63}+:(?P<secret>[^\s:]{4,100}+)$",
)
SHAPES = (JWT, AGE, URL, SIGNED, HEADER, COOKIE, HASH, OTP, WIFI, PGPASS)


def _is_typed(value: str) -> bool:
    return _is_password(value) and any(map(str.isalpha, value)) and (any(map(str.isdigit, value)) or not value.isalnum())


# Commands that take a password as an option; others use the same letters for ports and folders.
_CALLS = r"(?<![\w-])(?:docker|podman|helm|az|oc|sshpass|mysql\w*|mariadb\w*)\b[^\n|;&]{0,80}?\s-p[ ]?"
COMMAND = Rule(
    "password",
    (" -",),
    rf"(?:{_CALLS}|(?<![\w-])(?:curl|wget|https?)\b[^\n|;&]{{0,80}}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{{1,60}}+:|"
    r"(?<![\w-])redis-cli\b[^\n|;&]{0,80}?\s-a[ ])[\"']?(?P<secret>[^\s\"':$]{6,200}+)(?!:)",
    _is_typed,
)
NETRC = Rule(
    "password",
    ("login ",),
    r"(?:machine\s{1,3}\S{1,100}+|default)\s{1,6}login\s{1,3}\S{1,100}+\s{1,6}password\s{1,3}(?P<secret>\S{4,200}+)",
)
STATEMENT = Rule("password", ("IDENTIFIED BY",), r"IDENTIFIED BY\s{1,3}[\"'](?P<secret>[^\"'\n]{4,200}+)", _is_password)
# Found also where no word of the text is as long as a token.
SHORT = (COMMAND, NETRC, STATEMENT)
_KUBERNETES = r"(?m)^[ \t]{0,8}(?:stringD|d)ata:[ \t]*+\n(?P<entries>(?:[ \t]+[\w.-]+:[^\n]*+(?:\n|$))+)"
_ENTRY = r"(?m)^[ \t]+[\w.-]+:[ \t]*+(?P<secret>[^\s|>][^\n]{3,}+)$"
KUBERNETES = "kind: Secret"


def kubernetes_secrets(text: str) -> Iterator[Secret]:
    """Yield the values of a Kubernetes Secret, which nothing but their place gives away."""
    for block in compiled(_KUBERNETES).finditer(text):
        for entry in compiled(_ENTRY).finditer(text, block.start("entries"), block.end("entries")):
            yield Secret("kubernetes_secret", *entry.span("secret"))


def passes_luhn(number: str) -> bool:
    """Tell whether the digits end in the check digit of ISO/IEC 7812-1.

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(each) for each in reversed(number) if each.isdigit()]
    return sum(digits[0::2] + [each * 2 - 9 * (each > 4) for each in digits[1::2]]) % 10 == 0


_CARD = r"(?<![\w.-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6(?:011|5\d{2}))(?:[ -]?\d{4}){3})(?![\w-])"
CARD = Rule("card_number", tuple("23456"), _CARD, passes_luhn)
