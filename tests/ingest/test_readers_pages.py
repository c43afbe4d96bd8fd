"""Web pages: the part people came for, as markdown, and nothing that surrounds it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clew.documents.readers.document import Document, UnreadableError
from clew.documents.readers.reading import read

FIXTURES = Path(__file__).parent / "fixtures" / "reading"

WRITTEN = """\
# Sourdough at altitude

Above 1500 metres dough rises faster, see our table and [the guide](https://baking.example/high); 2 < 3 holds there too.

## What to change

- Less starter
  - ten percent
  - or fifteen
- Cooler water

1. Mix
2. Wait

| Metres | Hours |
| --- | --- |
| 1500 | 4 \\| 5 |
| 2500 | 3 |

```python
def hours(metres):
    return 5 - metres / 1250
```

> Watch the dough, not the clock.

Set `oven = 230`.
Bake.

[image: A dark loaf]"""


def page(body: str) -> Document:
    (document,) = read(Path("a.html"), data=body.encode())
    return document


def test_a_page_becomes_the_markdown_of_its_main_part() -> None:
    (document,) = read(FIXTURES / "page.html")
    assert document.text == WRITTEN
    assert document.title == "Sourdough at altitude · The Mill"
    assert document.time == datetime(2024, 3, 1, 7, 30, tzinfo=UTC)
    assert document.metadata == {
        "original_format": "html",
        "url": "https://www.mill.example/sourdough",
        "author": "Ada Miller",
    }
    assert (document.format, document.notes) == ("markdown", ())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("one<div>two</div>three", "one\n\ntwo\n\nthree"),
        ("<b>bo</b>ld, x<sup>2</sup>", "bold, x2"),
        ("<ul><li><p>first</p><p>second</p></ul>", "- first\n\n  second"),
        ("<ol start=1><li>a<ol><li>b</ol><li>c</ol>", "1. a\n  1. b\n2. c"),
        ("<pre>a  b\n\n  c</pre>", "```\na  b\n\n  c\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<pre class='highlight-source-rust'>fn</pre>", "```rust\nfn\n```"),
        ("<table><tr><td>only</td></tr></table>", "| only |"),
        ("<table><tr><td><ul><li>a<li>b</ul><td>c</table>", "| a b | c |"),
        (
            "<table><tr><td><h2>Placed</h2>by a table<td>right</table>",
            "## Placed\n\nby a table\n\nright",
        ),
        ("<table><tr><td><table><tr><td>in</table></table>", "| in |"),
        ("<a href='https://x.example/'>https://x.example/</a>", "https://x.example/"),
        ("<a href='javascript:x()'>act</a> <a href='mailto:a@b.c'>mail</a>", "act mail"),
        (f"<a href='https://x.example/{'q' * 300}'>tracked</a>", "tracked"),
        ("<a href='https://x.example'><div>block</div></a>", "block"),
        ("<h1>two\n lines<br>here</h1>", "# two lines here"),
        ("1 < 2 &amp;&amp; 3 > 2 <3", "1 < 2 && 3 > 2 <3"),
        ("<math><mi>x</mi><mo>=</mo><mn>2</mn></math> so", "x=2 so"),
        ("<svg><text>drawn</text></svg>seen<svg/>too", "seen too"),
        ("&#0;&#xd800;a&#1;b", "\ufffd\ufffda b"),
        ("<dl><dt>Term<dd>Meaning</dl>", "Term\n\nMeaning"),
        ("<template>no</template><noscript>no</noscript>yes", "yes"),
        (
            "<p class='sr-only'>no</p><p aria-hidden=true>no</p><p id=onetrust-x>no</p><p role=navigation>no</p>yes",
            "yes",
        ),
    ],
)
def test_elements_keep_their_shape(body: str, text: str) -> None:
    assert page(body).text == text


def test_links_inside_the_own_site_are_words_alone() -> None:
    head = "<link rel=canonical href='https://www.site.example/a'>"
    assert page(
        head + "<a href='https://site.example/b'>own</a> <a href='https://other.example/'>other</a>"
    ).text == ("own [other](https://other.example/)")


def test_a_page_that_is_all_form_or_header_is_still_read() -> None:
    assert page("<form><p>Everything is in here</p><input></form>").text == "Everything is in here"
    assert page("<header><h1>Name</h1></header><main></main>").text == "# Name"


def test_a_short_main_part_gives_way_to_the_whole_page() -> None:
    assert page(f"<main>Loading</main><div>{'words ' * 50}</div>").text.endswith("words words")


def test_the_title_falls_back_to_the_heading() -> None:
    assert page("<h1>Only this</h1>text").title == "Only this"
    assert page("<meta property=og:title content='Shared'><h1>This</h1>text").title == "Shared"


def test_a_declared_encoding_is_used_when_it_is_not_utf_8() -> None:
    data = "<meta charset=shift_jis><p>東京タワー</p>".encode("shift_jis")
    (document,) = read(Path("a.html"), data=data)
    assert (document.text, document.notes) == ("東京タワー", ("read as shift_jis, as it declares",))


def test_a_page_without_words_says_how_to_get_them() -> None:
    with pytest.raises(UnreadableError, match="saved from a browser"):
        page("<div id=app></div><script>render()</script>")
