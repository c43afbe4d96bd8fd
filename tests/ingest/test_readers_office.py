"""PDF and Word files, made here byte by byte and with the library that Word users' files come close to."""

from __future__ import annotations

import io
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import docx
import pypdf
import pytest

from clew.documents.readers import word as word_reader
from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.reading import read


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF of pages set in Helvetica, one line of text below the other."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, page in enumerate(pages):
        lines = " T* ".join(f"({line}) Tj" for line in page.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) /CreationDate (D:20240301100000+01'00') >>")
    return assembled(objects)


def assembled(objects: list[str]) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>"
    return out + f"{end}\nstartxref\n{len(out)}\n%%EOF\n".encode()


def encrypted(data: bytes, password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def one(name: str, data: bytes) -> Document:
    (document,) = read(Path(name), data=data)
    return document


def test_a_pdf_gives_its_pages_its_title_and_where_each_page_begins() -> None:
    document = one("a.pdf", pdf("The first page\nhas two lines", "The second", title="On pages"))
    assert document.text == "The first page\nhas two lines\n\nThe second"
    assert (document.title, document.time, document.format) == (
        "On pages",
        datetime(2024, 3, 1, 9, tzinfo=UTC),
        "text",
    )
    starts = document.metadata["page_starts"]
    assert [document.text[start : start + 9] for start in starts] == ["The first", "The secon"]
    assert document.metadata == {"original_format": "pdf", "pages": 2, "page_starts": starts}


def test_broken_words_are_joined_unless_they_are_spelled_with_a_hyphen() -> None:
    document = one(
        "a.pdf",
        pdf("an exam-\nple of a well-\nknown rule", "every well-known rule of Baden-\nBaden"),
    )
    assert (
        document.text == "an example of a well-known rule\n\nevery well-known rule of Baden-\nBaden"
    )


def test_a_page_without_text_is_noted_and_a_file_without_is_refused() -> None:
    document = one("a.pdf", pdf("Words", "", "More"))
    assert (document.text, document.notes) == ("Words\n\nMore", ("1 pages without text",))
    assert document.metadata["page_starts"] == [0, 7, 7]
    with pytest.raises(
        UnreadableError, match=r"no text: scanned\?\. Run it through text recognition"
    ):
        one("a.pdf", pdf("", ""))


def test_an_encrypted_pdf_is_refused_unless_its_password_is_empty() -> None:
    assert one("a.pdf", encrypted(pdf("Open to all"), "")).text == "Open to all"
    with pytest.raises(UnreadableError, match=r"encrypted\. Save a copy without a password"):
        one("a.pdf", encrypted(pdf("Secret"), "secret"))


def test_a_torn_pdf_gives_what_is_left_or_the_reason() -> None:
    whole = pdf("Words that stay", title="T")
    misplaced = whole.replace(b"startxref\n", b"startxref\n9")
    assert one("a.pdf", misplaced).text == "Words that stay"
    with pytest.raises(UnreadableError, match="not a sound PDF"):
        one("a.pdf", whole[:60])


def word(*, table: bool = True) -> bytes:
    document = docx.Document()
    document.core_properties.title = "Harvest"
    # As the library takes it
    document.core_properties.created = datetime(2024, 3, 1, 10)  # noqa: DTZ001
    document.add_heading("Harvest", 0)
    document.add_heading("Apples", 2)
    paragraph = document.add_paragraph("Forty crates ")
    paragraph.add_run("of Boskoop").bold = True
    paragraph.add_run("\nand ten of Topaz.")
    document.add_paragraph("sorted", style="List Bullet")
    document.add_paragraph("washed", style="List Bullet 2")
    document.add_paragraph("then", style="List Number")
    if table:
        made = document.add_table(rows=2, cols=2)
        for cell, text in zip(
            (cell for row in made.rows for cell in row.cells),
            ("Kind", "Crates", "A|B", "40"),
            strict=True,
        ):
            cell.text = text
    document.add_paragraph("The end.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def repacked(data: bytes, change: tuple[bytes, bytes]) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            content = old.read(info)
            new.writestr(
                info.filename,
                content.replace(*change) if info.filename == "word/document.xml" else content,
            )
    return out.getvalue()


def test_a_word_file_becomes_markdown_with_its_properties() -> None:
    document = one("a.docx", word())
    assert document.text == (
        "# Harvest\n\n## Apples\n\nForty crates of Boskoop\nand ten of Topaz.\n\n- sorted\n  - washed\n- then\n\n"
        "| Kind | Crates |\n| --- | --- |\n| A\\|B | 40 |\n\nThe end."
    )
    assert (document.title, document.time, document.format) == (
        "Harvest",
        datetime(2024, 3, 1, 10, tzinfo=UTC),
        "markdown",
    )


def test_insertions_are_read_and_deletions_are_not() -> None:
    run = b"<w:r><w:t>The end.</w:t></w:r>"
    tracked = (
        b"<w:ins><w:r><w:t>New</w:t></w:r></w:ins><w:del><w:r><w:delText>Old</w:delText></w:r></w:del>"
        + run
    )
    assert one("a.docx", repacked(word(), (run, tracked))).text.endswith("NewThe end.")


def test_a_word_file_is_known_without_its_extension() -> None:
    assert one("download", word()).title == "Harvest"


def test_a_file_that_unpacks_to_too_much_is_refused_unopened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w") as part,
    ):
        for _ in range(60):
            part.write(bytes(1_000_000))
    assert len(bomb.getvalue()) < 200_000
    with pytest.raises(UnreadableError, match="unpacks to more than"):
        one("a.docx", bomb.getvalue())
    monkeypatch.setattr(word_reader, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(UnreadableError, match="unpacks to more than"):
        one("a.docx", word())


@pytest.mark.parametrize(
    "data", [b"no archive", b"PK\x03\x04 torn", word()[:-100], word(table=False)[:10_000]]
)
def test_what_is_no_word_file_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"not a Word file|not a sound Word file"):
        one("a.docx", data)


def test_an_archive_of_something_else_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(UnreadableError, match="not a sound Word file"):
        one("a.docx", out.getvalue())


@pytest.mark.parametrize(
    ("module", "name", "data"),
    [
        ("pypdf", "a.pdf", pdf("x")),
        ("docx", "a.docx", word()),
        ("selectolax.lexbor", "a.html", b"<p>x"),
    ],
)
def test_a_missing_library_names_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str, data: bytes
) -> None:
    # as the import system marks a module that cannot be had
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnreadableError, match=r"pip install 'clew\[docs\]'"):
        one(name, data)
