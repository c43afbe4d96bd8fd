"""Calendars (.ics) and contacts (.vcf): one document per event, task or person."""

from __future__ import annotations

import quopri
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from clew.documents.readers.conversation import line
from clew.documents.readers.document import Document, UnreadableError

MAX_DOCUMENTS = 50_000
_PLACES = {"EMAIL": "E-mail", "TEL": "Phone", "ADR": "Address", "URL": "Web"}
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?")
_PLAIN_DATE = re.compile(r"(\d{4}|--)-?(\d\d)-?(\d\d)")
_ESCAPE = re.compile(r"\\([\\;,nN:])")
_DURATION = re.compile(
    r"P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?"
)


@dataclass(frozen=True, slots=True)
class _Property:
    """One line of an object: a name, its parameters and its value."""

    name: str
    parameters: dict[str, str]
    value: str

    @property
    def text(self) -> str:
        """The value as text."""
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()


def read_ics(text: str, notes: tuple[str, ...]) -> tuple[Document, ...]:
    r"""Return one document per event and task, valid from the time when it begins.

    >>> (made,) = read_ics("BEGIN:VEVENT\nSUMMARY:Load test\nDTSTART:20240314T090000Z\nLOCATION:Pier 4\nEND:VEVENT", ())
    >>> made.title, made.time.isoformat(), made.text
    ('Load test', '2024-03-14T09:00:00+00:00', 'Load test\nWhen: 2024-03-14 09:00 UTC\nWhere: Pier 4')
    """
    objects = list(_objects(text, ("VEVENT", "VTODO", "VJOURNAL")))
    return _documents([made for each in objects if (made := _event(each))], notes, "calendar")


def read_vcf(text: str, notes: tuple[str, ...]) -> tuple[Document, ...]:
    r"""Return one document per person.

    >>> (made,) = read_vcf("BEGIN:VCARD\nFN:Ada King\nTEL;TYPE=CELL:+44 1\nORG:Analytical;Engines\nEND:VCARD", ())
    >>> made.title, made.text
    ('Ada King', 'Ada King\nOrganisation: Analytical, Engines\nPhone (cell): +44 1')
    """
    return _documents(
        [made for each in _objects(text, ("VCARD",)) if (made := _person(each))],
        notes,
        "address book",
    )


def _documents(found: list[Document], notes: tuple[str, ...], what: str) -> tuple[Document, ...]:
    if not found:
        raise UnreadableError(f"it is a {what} without entries", "Export it again.")
    seen: Counter[str] = Counter()
    kept = []
    for number, each in enumerate(found[:MAX_DOCUMENTS], start=1):
        key = each.key or str(number)
        seen[key] += 1
        kept.append(
            Document(**{**_fields(each), "key": key if seen[key] == 1 else f"{key}#{seen[key]}"})
        )
    more = (f"{len(found) - MAX_DOCUMENTS} entries left out",) if len(found) > MAX_DOCUMENTS else ()
    return (Document(**{**_fields(kept[0]), "notes": (*notes, *more)}), *kept[1:])


def _fields(document: Document) -> dict[str, Any]:
    return {
        name: getattr(document, name)
        for name in ("text", "format", "title", "key", "time", "metadata", "notes")
    }


def _lines(text: str) -> Iterator[str]:
    """Yield the logical lines: one that begins with a blank goes on from the line before."""
    parts: list[str] = []
    for each in text.split("\n"):
        if each[:1] in (" ", "\t"):
            parts.append(each[1:])
        elif parts and parts[-1].endswith("=") and "QUOTED-PRINTABLE" in parts[0].upper():
            parts[-1] = parts[-1][:-1]
            parts.append(each)
        else:
            if parts:
                yield "".join(parts)
            parts = [each]
    if parts:
        yield "".join(parts)


def _objects(text: str, kinds: Sequence[str]) -> Iterator[list[_Property]]:
    """Yield the properties of each object of these kinds.

    Those of alarms and other parts inside it do not count.
    """
    current: list[_Property] | None = None
    kind = ""
    inner = 0
    for each in _lines(text):
        name, _, value = each.partition(":")
        word = value.strip().upper()
        if name.strip().upper() == "BEGIN":
            if current is None and word in kinds:
                current, kind, inner = [], word, 0
            else:
                inner += current is not None
        elif name.strip().upper() == "END" and current is not None:
            if inner:
                inner -= 1
            elif word == kind:
                yield current
                current = None
        elif current is not None and not inner and (found := _property(each)):
            current.append(found)
    if current:
        yield current  # a file that was cut off


def _property(text: str) -> _Property | None:
    head, value = _split_value(text)
    names = head.split(";")
    name = names[0].strip().upper().rpartition(".")[2]  # "item1.EMAIL"
    if not name:
        return None
    parameters: dict[str, str] = {}
    for each in names[1:]:
        key, mark, said = each.partition("=")
        key, said = (key.upper(), said.strip('"')) if mark else ("TYPE", key)
        parameters[key] = f"{parameters[key]},{said}" if key in parameters else said
    if parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
        value = quopri.decodestring(value.encode("utf-8", "surrogatepass")).decode(
            "utf-8", "replace"
        )
    return _Property(name, parameters, value)


def _split_value(text: str) -> tuple[str, str]:
    """Split a line at the first colon outside of quotes."""
    quoted = False
    for at, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif sign == ":" and not quoted:
            return text[:at], text[at + 1 :]
    return text, ""


def _event(properties: Sequence[_Property]) -> Document | None:
    first = _first(properties)
    title = line(first["SUMMARY"].text) if "SUMMARY" in first else ""
    begins, whole_day = _moment(first.get("DTSTART") or first.get("DUE"))
    ends, _ = _moment(first.get("DTEND") or (first.get("DUE") if "DTSTART" in first else None))
    if begins and ends is None and "DURATION" in first:
        ends = _after(begins, first["DURATION"].value)
    rows = [title]
    if begins:
        rows.append(f"When: {_span(begins, ends, whole_day=whole_day)}")
    rows += [
        f"{label}: {first[name].text}"
        for name, label in (("LOCATION", "Where"), ("STATUS", "Status"))
        if name in first
    ]
    if "RRULE" in first:
        rows.append(f"Repeats: {first['RRULE'].value.replace(';', ', ').replace('=', ' ').lower()}")
    people = [_person_of(each) for each in properties if each.name in ("ORGANIZER", "ATTENDEE")]
    rows += [f"With: {', '.join(dict.fromkeys(filter(None, people)))}"] if any(people) else []
    rows += [first["DESCRIPTION"].text] if "DESCRIPTION" in first else []
    text = "\n".join(row for row in rows if row)
    key = line(first["UID"].value, limit=200) if "UID" in first else ""
    return (
        Document(
            text=text,
            format="text",
            title=title,
            key=key,
            time=begins,
            metadata={"original_format": "ics"},
        )
        if text
        else None
    )


def _first(properties: Sequence[_Property]) -> dict[str, _Property]:
    found: dict[str, _Property] = {}
    for each in properties:
        found.setdefault(each.name, each)
    return found


def _person_of(each: _Property) -> str:
    return each.parameters.get("CN") or each.text.removeprefix("mailto:").removeprefix("MAILTO:")


def _moment(given: _Property | None) -> tuple[datetime | None, bool]:
    """Return a time in UTC, and whether it is a whole day; an unknown zone counts as UTC."""
    found = _DATE.match(given.value.strip()) if given else None
    if found is None or given is None:
        return None, False
    year, month, day = map(int, found.group(1, 2, 3))
    try:
        if found[4] is None:
            return datetime(year, month, day, tzinfo=UTC), True
        naive = datetime(year, month, day, int(found[4]), int(found[5]), int(found[6] or 0))  # noqa: DTZ001 - its zone follows
        zone = given.parameters.get("TZID", "")
        return naive.replace(tzinfo=UTC if found[7] else _zone(zone)).astimezone(UTC), False
    except (ValueError, OverflowError):
        return None, False


def _zone(name: str) -> Any:
    try:
        return ZoneInfo(name) if name else UTC
    except Exception:
        return UTC


def _after(begins: datetime, duration: str) -> datetime | None:
    found = _DURATION.match(duration.strip())
    if not found:
        return None
    weeks, days, hours, minutes, seconds = (int(each or 0) for each in found.groups())
    try:
        return begins + timedelta(
            weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds
        )
    except OverflowError:
        return None


def _span(begins: datetime, ends: datetime | None, *, whole_day: bool) -> str:
    if whole_day:
        # the end is the day after the last
        last = ends - timedelta(days=1) if ends and ends.date() > begins.date() else None
        return f"{begins:%Y-%m-%d}" + (
            f" to {last:%Y-%m-%d}" if last and last.date() != begins.date() else ""
        )
    shown = f"{begins:%Y-%m-%d %H:%M}"
    if ends and ends != begins:
        shown += (
            f" to {ends:%H:%M}" if ends.date() == begins.date() else f" to {ends:%Y-%m-%d %H:%M}"
        )
    return f"{shown} UTC"


def _person(properties: Sequence[_Property]) -> Document | None:
    first = _first(properties)
    name = line(first["FN"].text) if "FN" in first else ""
    if not name and "N" in first:
        family, given, *_ = [*first["N"].text.split(";"), "", ""]
        name = line(f"{given} {family}")
    rows = [name]
    rows += [
        f"{label}: {_parts(first[key])}"
        for key, label in (("NICKNAME", "Also"), ("TITLE", "Role"))
        if key in first
    ]
    rows += [f"Organisation: {_parts(first['ORG'])}"] if "ORG" in first else []
    rows += [_place(each) for each in properties if each.name in _PLACES]
    if "BDAY" in first:
        rows.append(f"Born: {_birthday(first['BDAY'].value)}")
    rows += [each.text for each in properties if each.name == "NOTE"]
    text = "\n".join(row for row in rows if row)
    aliases = (
        [line(each) for each in first["NICKNAME"].text.split(",")] if "NICKNAME" in first else []
    )
    metadata: dict[str, Any] = {
        "original_format": "vcf",
        **({"aliases": [each for each in aliases if each]} if aliases else {}),
    }
    key = line(first["UID"].value, limit=200) if "UID" in first else ""
    return (
        Document(text=text, format="text", title=name, key=key, metadata=metadata) if text else None
    )


def _parts(each: _Property) -> str:
    return ", ".join(part.strip() for part in each.text.split(";") if part.strip())


def _place(each: _Property) -> str:
    kinds = [
        kind.lower()
        for kind in each.parameters.get("TYPE", "").split(",")
        if kind.lower() not in ("", "pref", "internet", "voice")
    ]
    value = (
        _parts(each)
        if each.name == "ADR"
        else each.text.removeprefix("tel:").removeprefix("mailto:")
    )
    return (
        f"{_PLACES[each.name]}{f' ({chr(44).join(kinds)})' if kinds else ''}: {line(value)}"
        if value
        else ""
    )


def _birthday(value: str) -> str:
    found = _PLAIN_DATE.match(value.strip())
    if not found:
        return line(value)
    try:
        month, day = int(found[2]), int(found[3])
        if found[1] == "--":
            return f"{date(2000, month, day):%d %B}".lstrip("0")
        return f"{date(int(found[1]), month, day):%Y-%m-%d}"
    except ValueError:
        return line(value)
