"""Formats as people have them, each from its documented layout.

Titles, dates, sections, offsets and what is left out.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.documents.readers.containers import MAX_MEMBER_BYTES
from clew.documents.readers.document import Document, NotTextError, UnreadableError
from clew.documents.readers.reading import read
from clew.file_formats import FORMATS

NEW_FORMATS = (
    "rst",
    "notebook",
    "eml",
    "mbox",
    "ics",
    "vcf",
    "csv",
    "epub",
    "odt",
    "pptx",
    "xlsx",
    "archive",
)


def packed(members: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # as the layouts say
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return data.getvalue()


def one(name: str, data: bytes | str) -> Document:
    (found,) = read(Path(name), data=data.encode() if isinstance(data, str) else data)
    return found


def day(document: Document) -> str:
    return "" if document.time is None else document.time.isoformat()[:16]


# --- reStructuredText ---

RST = """\
=====
Guide
=====

:Author: Ada King
:Date: 2024-03-14

Introduction to *cranes*.

Install
=======

On Linux
--------

Run this::

    pip install clew
    clew demo

.. code-block:: python
   :linenos:

   import clew

Use
===

Ask it.
"""


def test_restructured_text_has_titles_sections_and_code() -> None:
    found = one("guide.rst", RST)
    assert (found.title, day(found), found.metadata["author"]) == (
        "Guide",
        "2024-03-14T00:00",
        "Ada King",
    )
    headings = [line for line in found.text.split("\n") if line.startswith("#")]
    assert headings == ["# Guide", "## Install", "### On Linux", "## Use"]
    assert "```\npip install clew\nclew demo\n```" in found.text
    assert "```python\nimport clew\n```" in found.text
    assert "Ask it." in found.text


# --- notebooks ---


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps(
        {
            "cells": cells,
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def test_a_notebook_keeps_its_cells_and_printed_output_and_no_pictures() -> None:
    found = one(
        "load.ipynb",
        notebook(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": ["# Load test\n", "\n", "On pier four."],
            },
            {
                "cell_type": "code",
                "metadata": {},
                "execution_count": 1,
                "source": "print(2 + 2)",
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["4\n"]},
                    {
                        "output_type": "display_data",
                        "metadata": {},
                        "data": {"image/png": "iVBOR" * 1000, "text/plain": "<Figure>"},
                    },
                ],
            },
        ),
    )
    assert found.title == "Load test"
    assert "```python\nprint(2 + 2)\n```\n\n```\n4\n```" in found.text
    assert "iVBOR" not in found.text
    assert found.notes == ("1 pictures and pages in outputs left out",)


# --- e-mail ---

EML = b"""\
From: =?utf-8?q?J=C3=BCrgen_Meyer?= <jm@example.org>
To: ada@example.org
Subject: =?utf-8?b?S3JhbiBwcsO8ZmVu?=
Date: Thu, 14 Mar 2024 09:30:00 +0100
Message-ID: <2@example.org>
In-Reply-To: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: multipart/alternative; boundary="a"

--a
Content-Type: text/plain; charset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

Der Kran geh=F6rt gepr=FCft.
--a
Content-Type: text/html; charset=utf-8

<p>Der Kran <b>muss</b> weg.</p>
--a--
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="plan.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--b--
"""


def test_a_message_is_decoded_dated_and_says_what_was_attached() -> None:
    found = one("kran.eml", EML)
    assert (found.title, day(found)) == ("Kran prüfen", "2024-03-14T08:30")
    assert "Der Kran gehört geprüft." in found.text
    assert "muss" not in found.text
    assert found.metadata["from"] == "Jürgen Meyer <jm@example.org>"
    assert (found.metadata["message_id"], found.metadata["thread"]) == (
        "2@example.org",
        "1@example.org",
    )
    assert found.notes == ("1 attachments left out",)


def letter(number: int, subject: str, sender: str, text: str, answers: str = "") -> str:
    answer = f"In-Reply-To: <{answers}@x>\n" if answers else ""
    head = f"From: {sender} <{sender}@x>\nSubject: {subject}\nDate: Thu, 14 Mar 2024 0{number}:00:00 +0000\nMessage-ID: <{number}@x>\n"
    return f"From {sender}@x Thu Mar 14 0{number}:00:00 2024\n{head}{answer}\n{text}\n\n"


def test_the_threads_of_a_mailbox_are_conversations_in_order() -> None:
    mailbox = (
        letter(2, "Re: Pier four", "Ben", "At six.\n>From the gate you walk.", answers="1")
        + letter(1, "Pier four", "Ada", "When does it open?")
        + letter(3, "Lunch", "Cleo", "Soup today.")
    )
    pier, lunch = read(Path("all.mbox"), data=mailbox.encode())
    assert (pier.title, lunch.title) == ("Pier four", "Lunch")
    assert [
        (message.speaker, message.time.hour if message.time else None) for message in pier.messages
    ] == [("Ada", 1), ("Ben", 2)]
    assert [pier.text[message.start : message.end] for message in pier.messages][
        1
    ] == "Ben: At six.\nFrom the gate you walk."
    assert pier.key != lunch.key


# --- calendars and contacts ---

ICS = """\
BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1@example.org
DTSTART;TZID=Europe/Berlin:20240314T090000
DTEND;TZID=Europe/Berlin:20240314T103000
SUMMARY:Load test on
  pier four
LOCATION:Pier 4\\, gate B
DESCRIPTION:Bring the\\nlight cable.
ATTENDEE;CN="King, Ada":mailto:ada@example.org
RRULE:FREQ=WEEKLY;COUNT=3
BEGIN:VALARM
DESCRIPTION:not the event
END:VALARM
END:VEVENT
BEGIN:VEVENT
UID:2@example.org
DTSTART;VALUE=DATE:20240501
DTEND;VALUE=DATE:20240503
SUMMARY:Harbour festival
END:VEVENT
END:VCALENDAR
"""


def test_each_event_is_a_document_with_its_times() -> None:
    test, festival = read(Path("harbour.ics"), data=ICS.replace("\n", "\r\n").encode())
    assert (test.title, day(test), test.key) == (
        "Load test on pier four",
        "2024-03-14T08:00",
        "1@example.org",
    )
    assert test.text.split("\n") == [
        "Load test on pier four",
        "When: 2024-03-14 08:00 to 09:30 UTC",
        "Where: Pier 4, gate B",
        "Repeats: freq weekly, count 3",
        "With: King, Ada",
        "Bring the",
        "light cable.",
    ]
    assert festival.text == "Harbour festival\nWhen: 2024-05-01 to 2024-05-02"


VCF = """\
BEGIN:VCARD
VERSION:4.0
FN:Ada King
NICKNAME:Countess
EMAIL;TYPE=work:ada@example.org
item1.TEL;type=CELL;type=pref:+44 1234
BDAY:18151210
NOTE:Knows the crane\\, and the engine.
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:M=C3=BCller;J=C3=BCrgen
END:VCARD
"""


def test_each_person_is_a_document() -> None:
    ada, jurgen = read(Path("people.vcf"), data=VCF.encode())
    assert ada.text.split("\n") == [
        "Ada King",
        "Also: Countess",
        "E-mail (work): ada@example.org",
        "Phone (cell): +44 1234",
        "Born: 1815-12-10",
        "Knows the crane, and the engine.",
    ]
    assert ada.metadata["aliases"] == ["Countess"]
    assert jurgen.title == "Jürgen Müller"


# --- tables ---


@pytest.mark.parametrize(("name", "sign"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_rows_stand_under_the_names_of_the_header(name: str, sign: str) -> None:
    rows = [["pier", "opens", "note"], ["4", "06:00", '"two\nlines"'], ["5", "", "closed"]]
    found = one(name, "\n".join(sign.join(row) for row in rows))
    assert found.text == "pier: 4; opens: 06:00; note: two lines\n\npier: 5; note: closed"
    assert found.metadata["rows"] == 2


def test_a_table_of_one_column_stays_the_text_it_is() -> None:
    assert one("a.csv", "just words\nand more words\n").text == "just words\nand more words\n"


# --- books and office files ---

OPF = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>On Cranes</dc:title><dc:creator>Ada King</dc:creator><dc:date>2024-03-14</dc:date></metadata>
<manifest><item id="two" href="text/2.xhtml"/><item id="one" href="text/1.xhtml"/><item id="pic" href="a.png"/></manifest>
<spine><itemref idref="one"/><itemref idref="two"/></spine></package>"""
CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def chapter(title: str, text: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><h1>{title}</h1><p>{text}</p></body></html>'


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    book = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": OPF,
        "OEBPS/text/2.xhtml": chapter("Second", "Of chains."),
        "OEBPS/text/1.xhtml": chapter("First", "Of hooks."),
    }
    found = one("cranes.epub", packed(book))
    assert (found.title, day(found), found.metadata["author"]) == (
        "On Cranes",
        "2024-03-14T00:00",
        "Ada King",
    )
    assert found.text == "# First\n\nOf hooks.\n\n# Second\n\nOf chains."
    assert one("download", packed(book)).text == found.text


def test_an_opendocument_text_has_headings_lists_and_tables() -> None:
    office = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = f'xmlns:office="{office}:office:1.0" xmlns:text="{office}:text:1.0" xmlns:table="{office}:table:1.0"'
    body = (
        '<text:h text:outline-level="1">Piers</text:h><text:p>Four<text:s text:c="2"/>opens<text:line-break/>at six.</text:p>'
        "<text:list><text:list-item><text:p>hook</text:p><text:list><text:list-item><text:p>chain</text:p></text:list-item></text:list>"
        "</text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>pier</text:p></table:table-cell>"
        "<table:table-cell><text:p>opens</text:p></table:table-cell></table:table-row></table:table>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    )
    content = f"<office:document-content {spaces}><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    meta = (
        f'<office:document-meta {spaces} xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="{office}:meta:1.0"><office:meta>'
        "<dc:title>Harbour</dc:title><meta:creation-date>2024-03-14T09:00:00</meta:creation-date></office:meta></office:document-meta>"
    )
    found = one(
        "a.odt",
        packed(
            {
                "mimetype": "application/vnd.oasis.opendocument.text",
                "content.xml": content,
                "meta.xml": meta,
            }
        ),
    )
    assert (found.title, day(found)) == ("Harbour", "2024-03-14T09:00")
    assert (
        found.text
        == "# Piers\n\nFour  opens\nat six.\n\n- hook\n  - chain\n\n| pier | opens |\n| --- | --- |"
    )


def test_slides_made_by_python_pptx_are_read_in_order_with_notes(tmp_path: Path) -> None:
    pptx = pytest.importorskip("pptx", reason="python-pptx, which makes the file, is not installed")
    deck = pptx.Presentation()
    for title, text, notes in (
        ("Cranes", "Three of them", "Say who signs."),
        ("Piers", "Four opens at six", ""),
    ):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    deck.core_properties.title = "Harbour"
    deck.save(tmp_path / "a.pptx")
    (found,) = read(tmp_path / "a.pptx")
    assert found.title == "Harbour"
    assert (
        found.text
        == "## Cranes\n\nThree of them\n\nNotes: Say who signs.\n\n## Piers\n\nFour opens at six"
    )


def test_sheets_made_by_openpyxl_are_read_row_by_row_with_dates(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip(
        "openpyxl", reason="openpyxl, which makes the file, is not installed"
    )
    from datetime import date

    book = openpyxl.Workbook()
    book.active.title = "Piers"
    for row in (["pier", "inspected", "open"], [4, date(2024, 3, 14), True], ["five", None, False]):
        book.active.append(row)
    book.create_sheet("Empty")
    book.properties.title = "Harbour"
    book.save(tmp_path / "a.xlsx")
    (found,) = read(tmp_path / "a.xlsx")
    assert found.title == "Harbour"
    assert (
        found.text
        == "## Piers\n\npier: 4; inspected: 2024-03-14; open: yes\n\npier: five; open: no"
    )


# --- chat exports in their zip ---


def test_chatgpt_and_claude_come_in_the_zip_they_arrive_in() -> None:
    claude = [
        {
            "uuid": "c1",
            "name": "Cranes",
            "chat_messages": [
                {"sender": "human", "text": "Hi", "created_at": "2024-03-14T09:00:00Z"}
            ],
        }
    ]
    found = one(
        "claude.zip", packed({"conversations.json": json.dumps(claude), "users.json": "[]"})
    )
    assert (found.title, found.metadata["original_format"], day(found)) == (
        "Cranes",
        "claude",
        "2024-03-14T09:00",
    )
    message = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["Hello?"]},
        "create_time": 1710406800,
    }
    node: dict[str, Any] = {"id": "n", "message": message, "parent": None, "children": []}
    gpt = [{"title": "Piers", "id": "g1", "current_node": "n", "mapping": {"n": node}}]
    found = one(
        "x.zip", packed({"chat.html": "<html></html>", "conversations.json": json.dumps(gpt)})
    )
    assert (found.title, found.metadata["original_format"], found.text) == (
        "Piers",
        "chatgpt",
        "user: Hello?",
    )


def test_a_slack_export_names_its_people_and_channels() -> None:
    users = [
        {"id": "U1", "name": "ada", "profile": {"display_name": "Ada"}},
        {"id": "U2", "name": "ben", "real_name": "Ben", "profile": {}},
    ]
    days = {
        "general/2024-03-15.json": [
            {"type": "message", "user": "U2", "text": "Yes <@U1>.", "ts": "1710493200.0"}
        ],
        "general/2024-03-14.json": [
            {"type": "message", "user": "U1", "text": "Is it open?", "ts": "1710406800.000100"}
        ],
    }
    found = one(
        "slack.zip",
        packed(
            {
                "users.json": json.dumps(users),
                "channels.json": "[]",
                **{k: json.dumps(v) for k, v in days.items()},
            }
        ),
    )
    assert found.title == "#general"
    assert found.text == "Ada: Is it open?\n\nBen: Yes @Ada."
    assert [message.time.day for message in found.messages if message.time] == [14, 15]


def test_a_discord_package_is_read_by_channel() -> None:
    rows = [
        {"ID": 2, "Timestamp": "2024-03-14 09:05:00", "Contents": "At six.", "Attachments": ""},
        {"ID": 1, "Timestamp": "2024-03-14 09:00:00", "Contents": "Pier four?", "Attachments": ""},
    ]
    about = {"id": "123456", "name": "harbour", "guild": {"id": "1", "name": "Port"}}
    found = one(
        "package.zip",
        packed(
            {
                "messages/c123456/messages.json": json.dumps(rows),
                "messages/c123456/channel.json": json.dumps(about),
            }
        ),
    )
    assert (found.title, found.text) == ("Port · harbour", "me: Pier four?\n\nme: At six.")


def test_a_whatsapp_export_is_its_transcript() -> None:
    chat = "14/03/2024, 09:00 - Ada: Is pier four open?\n14/03/2024, 09:05 - Ben: From six on.\n14/03/2024, 09:06 - Ada: Thanks\n"
    found = one("w.zip", packed({"WhatsApp Chat with Ben.txt": chat, "IMG-1.jpg": b"\xff\xd8\xff"}))
    assert found.title == "Ben"
    assert [message.speaker for message in found.messages] == ["Ada", "Ben", "Ada"]
    assert "1 pictures and files left out" in found.notes


@pytest.mark.parametrize("zipped", [False, True])
def test_a_telegram_export_is_read_zipped_or_not(zipped: bool) -> None:
    messages = [
        {"id": 1, "type": "service", "action": "create", "text": ""},
        {
            "id": 2,
            "type": "message",
            "date": "2024-03-14T09:00:00",
            "date_unixtime": "1710406800",
            "from": "Ada",
            "text": "Open?",
        },
        {
            "id": 3,
            "type": "message",
            "date_unixtime": "1710406900",
            "from": "Ben",
            "text": ["see ", {"type": "link", "text": "https://x.org"}],
        },
    ]
    value = json.dumps(
        {
            "chats": {
                "list": [{"name": "Ben", "type": "personal_chat", "id": 9, "messages": messages}]
            }
        }
    )
    found = one("t.zip", packed({"result.json": value})) if zipped else one("result.json", value)
    assert (found.title, found.text) == ("Ben", "Ada: Open?\n\nBen: see https://x.org")


def test_another_archive_is_a_failure_with_a_way_out() -> None:
    with pytest.raises(UnreadableError, match="no chat export that is known"):
        one("a.zip", packed({"a.txt": "words"}))


# --- vaults ---


def test_notes_of_a_vault_are_known_by_their_names_and_linked(
    memory: clew.Clew, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Pier four.md").write_text(
        "---\naliases: [P4]\ntags: harbour\n---\n# Opening hours\n\nIt opens at six in the morning.\n"
    )
    (vault / "Plan.md").write_text(
        "Ask the gate of [[Pier four|the pier]] first. #todo\n\n`#code` and ![[sketch.png]]\n"
    )
    memory.import_path(vault)
    notes = {node.title.partition(" > ")[0]: node for node in memory.recent()}
    assert set(notes) == {"Pier four", "Plan"}
    assert notes["Pier four"].metadata["aliases"] == ["P4"]
    assert notes["Plan"].metadata["links"] == ["Pier four", "sketch.png"]
    assert notes["Plan"].tags == ("todo",)
    edges = memory.related(notes["Plan"].id).edges
    assert [(edge.source, edge.target, edge.kind) for edge in edges] == [
        (notes["Plan"].id, notes["Pier four"].id, "LINKS")
    ]


# --- what is no text ---


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("a.png", b"\x89PNG\r\n"),
        ("font.woff2", b"wOF2"),
        ("picture", b"\xff\xd8\xff\xe0"),
        ("scan", b"\x00\x01\x02" * 50),
    ],
)
def test_what_holds_no_text_is_skipped_and_no_failure(
    memory: clew.Clew, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    report = memory.import_path(tmp_path / name)
    assert (str(report.files[0].status), report.failed) == ("skipped", False)
    with pytest.raises(NotTextError):
        read(tmp_path / name)


# --- hostile input ---


@pytest.mark.parametrize("format", NEW_FORMATS)
@given(data=st.binary(max_size=400))
def test_any_bytes_give_documents_or_a_reason(format: str, data: bytes) -> None:
    try:
        found = read(Path("x"), format=format, data=data)
    except UnreadableError as error:
        assert error.reason and error.way_out
    else:
        assert all(each.text.strip() for each in found)


SEEDS: dict[str, bytes] = {
    "rst": RST.encode(),
    "notebook": notebook(
        {"cell_type": "code", "source": ["x"], "outputs": [{"text": "y"}]}
    ).encode(),
    "eml": EML,
    "mbox": letter(1, "a", "b", "c").encode(),
    "ics": ICS.encode(),
    "vcf": VCF.encode(),
    "csv": b'a,b\n"1,2\n3,4\n',
    "epub": packed(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": OPF,
            "OEBPS/text/1.xhtml": chapter("a", "b"),
        }
    ),
    "archive": packed(
        {"users.json": "[]", "general/2024-03-14.json": '[{"user": "U1", "text": "x", "ts": "1"}]'}
    ),
}


@pytest.mark.parametrize("format", SEEDS)
@given(
    at=st.integers(0, 10**6), put=st.binary(min_size=1, max_size=8), length=st.integers(0, 10**6)
)
def test_damaged_files_give_documents_or_a_reason(
    format: str, at: int, put: bytes, length: int
) -> None:
    seed = SEEDS[format]
    at %= len(seed)
    data = (seed[:at] + put + seed[at + len(put) :])[: len(seed) - length % (len(seed) // 2)]
    try:
        found = read(Path("x"), format=format, data=data)
    except UnreadableError as error:
        assert error.reason and error.way_out
    else:
        assert all(each.text.strip() for each in found)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30), max_size=30
    )
)
def test_restructured_text_loses_no_word(lines: list[str]) -> None:
    text = "\n".join(lines)
    words = [word for word in text.split() if word.isalnum()]
    try:
        made = one("a.rst", text).text
    except UnreadableError:
        assert not text.strip() or not words
    else:
        assert [word for word in words if word not in made] == []


@given(
    st.lists(
        st.lists(st.from_regex(r"[a-z0-9 ]{0,12}", fullmatch=True), min_size=2, max_size=5),
        min_size=2,
        max_size=8,
    )
)
def test_a_table_loses_no_cell(rows: list[list[str]]) -> None:
    try:
        made = one("a.csv", "\n".join(",".join(row) for row in rows)).text
    except UnreadableError:
        return
    assert all(" ".join(cell.split()) in made for row in rows[1:] for cell in row)


def test_a_zip_bomb_is_refused_unread() -> None:
    bomb = packed({"META-INF/container.xml": b" " * (MAX_MEMBER_BYTES + 1)})
    with pytest.raises(UnreadableError, match="unpacks to more than"):
        one("a.epub", bomb)


def test_xml_that_declares_entities_or_nests_without_end_is_refused() -> None:
    laughs = '<!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>'
    for content, reason in ((laughs, "entities"), ("<a>" * 100_000, "nests more than")):
        with pytest.raises(UnreadableError, match=reason):
            one("a.odt", packed({"content.xml": content}))


def test_every_format_is_shown_in_the_guide() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "import.md").read_text(encoding="utf-8")
    assert [name for name in NEW_FORMATS if FORMATS[name][0] not in page] == []
