"""What each chunker keeps together, where it cuts, and what it says about a chunk."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.documents.chunkers.blocks import Html, Markdown, markdown_blocks
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.messages import Conversation, transcript_blocks
from clew.documents.chunkers.port import Boundary, Chunker, ChunkOptions, RunCounts, Unit, estimate
from clew.documents.chunkers.recursive import Recursive
from clew.documents.chunkers.semantic import Semantic, best_cuts
from clew.documents.chunkers.structural import Structural, chunker_for
from clew.errors import InputError
from clew.graph.code.languages import GRAMMARS, IMPORTS, kinds_of, parser_of
from clew.models.wordpiece import WordPiece
from clew.text.words import token_estimate
from clew.types import Vectors
from tests.growth import check_linear

FIXTURES = Path(__file__).parent / "fixtures" / "chunking"


def sizes(most: int, *, target: int = 0, least: int = 1, overlap: int = 0) -> ChunkOptions:
    return ChunkOptions(
        max_tokens=most, target_tokens=target or most, min_tokens=least, overlap_tokens=overlap
    )


def texts(chunker: Chunker, text: str, options: ChunkOptions, format: str = "text") -> list[str]:
    return [chunk.text for chunk in chunker.chunk(text, format=format, options=options)]


# Recursive and fixed


def test_a_paragraph_past_the_target_stays_whole_up_to_the_largest_size() -> None:
    text = "one two three four five six seven eight nine ten\neleven twelve\n\nthe next one"
    assert texts(Recursive(), text, sizes(16, target=8)) == [
        text[: text.index("\n\n")],
        "the next one",
    ]


def test_a_chunk_tells_its_boundary_its_sentences_and_its_topic() -> None:
    text = "Postgres is slow. Tune Postgres vacuum!\n\n" + "word " * 40
    first, second, *_ = Recursive().chunk(text, options=sizes(20, overlap=4))
    assert (first.boundary, first.sentences, first.topic[:2]) == (
        Boundary.STRUCTURAL,
        2,
        ("postgres", "slow"),
    )
    assert second.boundary is Boundary.SIZE_LIMIT


def test_an_overlap_begins_with_a_sentence_where_one_is_in_reach() -> None:
    text = "Alpha beta gamma delta epsilon. Zeta eta theta iota. Kappa lambda mu nu xi omicron. Pi rho sigma tau."
    _, second, *_ = Recursive().chunk(text, options=sizes(16, overlap=6))
    assert second.text.startswith("Zeta eta theta iota.")


@pytest.mark.parametrize(
    "text", ["数据库。" * 40, "数" * 300, "👩‍👩‍👧‍👦" * 30, "e\u0301" * 300, "שלום עולם " * 30]
)
def test_scripts_without_spaces_and_joined_signs_are_cut_between_what_is_read_as_one(
    text: str,
) -> None:
    for chunk in Recursive().chunk(text, options=sizes(24, overlap=4)):
        assert chunk.text[0] not in "\u0301\u200d"
        assert not chunk.text.endswith("\u200d")


def test_sizes_that_contradict_each_other_are_refused_by_name() -> None:
    for field, wrong in {
        "max_tokens": 7,
        "target_tokens": 900,
        "min_tokens": 600,
        "overlap_tokens": 400,
        "semantic_threshold": -1,
    }.items():
        with pytest.raises(InputError) as caught:
            ChunkOptions(**{field: wrong})
        assert caught.value.field == field


# Conversations

TRANSCRIPT = (FIXTURES / "transcript.txt").read_text(encoding="utf-8")


def test_messages_are_never_split_while_they_fit() -> None:
    messages = [line for line in TRANSCRIPT.split("\n[") if line]
    for chunk in Conversation().chunk(TRANSCRIPT, options=sizes(60)):
        assert chunk.boundary is Boundary.STRUCTURAL
        for message in messages:
            body = message.rsplit("] ", 1)[-1].strip()
            assert body in chunk.text or not set(body.split(". ")[:1]) & set(chunk.text.split(". "))


def test_each_message_is_a_chunk_with_its_speaker_and_time_as_context() -> None:
    chunks = Conversation().chunk(TRANSCRIPT, options=sizes(400, least=10))
    assert len(chunks) == len(transcript_blocks(TRANSCRIPT))
    assert chunks[0].context == "Ann · 2024-03-01T10:00:00Z"
    assert chunks[-1].context == "Ann · 2024-03-02T09:01:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "Ann: Hi there\nBob: Hello\nAnn: Bye",
        "**Ann**: Hi there\n\n**Bob:** Hello\n**Ann**: Bye",
        "User:\nHi there\n\nAssistant:\nHello\n\nUser:\nBye",
    ],
)
def test_plain_transcripts_are_read_in_the_usual_forms(text: str) -> None:
    said = [text[block.unit.start : block.unit.end] for block in transcript_blocks(text)]
    assert len(said) == 3 and "Hi there" in said[0] and "Hello" in said[1] and "Bye" in said[2]


def test_a_message_that_alone_is_too_large_is_split_and_keeps_its_speaker() -> None:
    text = "Ann: " + "A long story without an end. " * 20 + "\nBob: Short."
    chunks = Conversation().chunk(text, options=sizes(40))
    assert len(chunks) > 3
    assert all("Ann" in chunk.context for chunk in chunks[:-1])


def test_units_of_a_reader_are_taken_as_they_are() -> None:
    text = '{"a": "first message"}{"b": "second message"}'
    units = [Unit(0, 22, "ann", datetime(2024, 3, 1, tzinfo=UTC)), Unit(22, len(text), "bob")]
    chunks = Conversation().chunk(text, options=sizes(12), units=units)
    assert [(chunk.start, chunk.context) for chunk in chunks] == [
        (0, "ann · 2024-03-01T00:00:00Z"),
        (22, "bob"),
    ]


def test_units_out_of_order_or_outside_the_text_are_refused() -> None:
    for units in ([Unit(5, 9), Unit(0, 4)], [Unit(0, 99)], [Unit(4, 2)]):
        with pytest.raises(InputError, match="units"):
            Markdown().chunk("some text", units=units)


# Markdown and HTML

GUIDE = (FIXTURES / "guide.md").read_text(encoding="utf-8")


def test_fences_tables_and_lists_stay_whole_where_they_fit() -> None:
    pieces = texts(Markdown(), GUIDE, sizes(60, least=5), "markdown")
    for whole in (
        "```sh\npip install clew\n\n# not a heading\nclew init\n```",
        "| k | how many |\n|---|---|\n| a | 1 |\n| b | 2 |",
        "- one\n  - inner\n- two\n\n- three",
    ):
        assert sum(whole in piece for piece in pieces) == 1, whole


def test_headings_begin_chunks_and_are_their_path() -> None:
    chunks = Markdown().chunk(GUIDE, options=sizes(60, least=5))
    found = {chunk.text.split("\n")[0]: chunk for chunk in chunks}
    assert (
        found["## Install"].path == ("Guide", "Install")
        and found["## Install"].context == "Guide > Install"
    )
    assert found["Settings"].path == ("Guide", "Settings")


def test_an_unclosed_fence_goes_to_the_end() -> None:
    blocks = markdown_blocks("text\n\n```py\nx = 1\n\n# no heading\n\ny = 2\n")
    assert [block.unit.heading for block in blocks] == [(), ()]


LINES = [
    "# A",
    "## B ##",
    "text",
    "more text",
    "===",
    "---",
    "```",
    "~~~",
    "    ```",
    "- item",
    "1. one",
    "> quote",
    "",
    "",
    "***",
    "#no",
]


@given(lines=st.lists(st.sampled_from(LINES), max_size=14))
def test_headings_are_those_of_a_commonmark_parser_outside_of_lists(lines: list[str]) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    text = "\n".join(
        line for line in ["start", "", *lines] if not line.startswith(("- ", "1. ", "> "))
    )
    tokens = markdown_it.MarkdownIt("commonmark").parse(text)
    expected = [
        int(token.tag[1]) for token in tokens if token.type == "heading_open" and token.level == 0
    ]
    depths = [block.level.name for block in markdown_blocks(text)].count("SECTION")
    assert depths == len(expected)


def test_html_is_cut_between_block_elements_and_texts_are_source() -> None:
    source = (FIXTURES / "page.html").read_text(encoding="utf-8")
    chunks = Html().chunk(source, options=sizes(60, least=5))
    assert all(chunk.text in source for chunk in chunks)
    assert any(
        "<h2>Use it</h2>" in chunk.text and chunk.path == ("A & B", "Use it") for chunk in chunks
    )
    assert not any("</script>" in chunk.text and "<script>" not in chunk.text for chunk in chunks)


# Code

MODULE = (FIXTURES / "module.python").read_text(encoding="utf-8")


def test_functions_stay_whole_and_comments_stay_above_them() -> None:
    pieces = texts(Code(), MODULE, sizes(60, least=5), "python")
    whole = "# Adds; said above it.\n@cached\ndef add(a, b):\n    return a + b"
    assert sum(whole in piece for piece in pieces) == 1


def test_the_scopes_around_a_part_and_the_imports_it_uses_are_its_context() -> None:
    chunks = Code().chunk(MODULE, format="python", options=sizes(40, least=5))
    (inner,) = [chunk for chunk in chunks if "defaultdict(int)" in chunk.text]
    assert "def count" not in inner.text and inner.path == ("Store", "count")
    assert (
        inner.context
        == "class Store(Base) > def count(self, texts: list[str]) -> dict[str, int] · imports defaultdict"
    )


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("np.array(x)", "imports np"),
        ("x = 2*np", "imports np"),
        ("x = 12np", ""),  # neither a number nor a name
        ("inputs = np2 + snp + x1np + _np + npé", ""),
        ("see = '«np» — or not'", "imports np"),
        ("unput(np_) + np", "imports np"),
    ],
)
def test_an_import_is_used_where_its_name_stands_for_itself(line: str, used: str) -> None:
    module = (
        "import numpy as np\n\n\n"
        + "\n".join(f"def f{at}():\n    return {at}\n" for at in range(40))
        + f"\n{line}\n"
    )
    assert Code().chunk(module, format="python", options=sizes(60, least=5))[-1].context == used


@pytest.mark.parametrize("format", sorted(GRAMMARS))
def test_every_language_is_cut_between_its_definitions(format: str) -> None:
    source = (FIXTURES / f"sample.{format}").read_text(encoding="utf-8")
    chunks = Code().chunk(source, format=format, options=sizes(45, least=5))
    assert "second" in {name for chunk in chunks for name in chunk.path}
    for definition in source.split("\n\n"):
        assert any(definition.strip() in chunk.text for chunk in chunks), definition


@pytest.mark.parametrize("format", sorted(GRAMMARS))
def test_the_numbers_of_kinds_are_those_of_their_names(format: str) -> None:
    kinds, nodes = (
        kinds_of(format),
        [parser_of(format).parse((FIXTURES / f"sample.{format}").read_bytes()).root_node],
    )
    for node in nodes:  # grows
        nodes.extend(node.children)
    named = {(node.kind_id, node.type, node.is_named) for node in nodes}
    assert {kind for kind, name, _ in named if "comment" in name} == {
        kind for kind, _, _ in named
    } & kinds.comments
    assert {kind for kind, name, is_named in named if not is_named} == {
        kind for kind, _, _ in named
    } & kinds.signs
    assert {kind for kind, name, _ in named if name in IMPORTS} == {
        kind for kind, _, _ in named
    } & kinds.imports


def test_a_class_whose_body_opens_on_its_first_line_is_cut_between_its_methods() -> None:
    source = (FIXTURES / "sample.java").read_text(encoding="utf-8")
    chunks = Code().chunk(source, format="java", options=sizes(45, least=5))
    assert [chunk.path for chunk in chunks][-1] == ("Sample", "second")
    assert {chunk.boundary for chunk in chunks} == {Boundary.STRUCTURAL}


@pytest.mark.parametrize("format", sorted(GRAMMARS))
def test_letters_of_several_bytes_move_no_cut(format: str) -> None:
    mark = "#" if format == "python" else "//"
    sample = (FIXTURES / f"sample.{format}").read_text(encoding="utf-8")
    foreign, plain = (
        f"\n\n{mark} {said}\n".join(sample.split("\n\n")) for said in ("é→数👩\ud800 x", "abcde x")
    )
    by_letters = Code(lambda text: -(-len(text) // 4))  # counts both alike
    cut = [
        by_letters.chunk(text, format=format, options=sizes(30, least=5))
        for text in (foreign, plain)
    ]
    assert len(cut[0]) > 1
    assert [(each.start, each.end, each.path) for each in cut[0]] == [
        (each.start, each.end, each.path) for each in cut[1]
    ]


@given(
    shape=st.lists(st.lists(st.integers(1, 6), max_size=4), min_size=1, max_size=6),
    most=st.integers(30, 120),
)
def test_the_path_of_a_chunk_is_what_all_of_its_lines_stand_in(
    shape: list[list[int]], most: int
) -> None:
    source = "\n".join(_unit(at, methods) for at, methods in enumerate(shape)) + "\nlast = 1\n" * 20
    opened = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
    for chunk in Code().chunk(source, format="python", options=sizes(most, least=5)):
        first, last = source.count("\n", 0, chunk.start) + 1, source.count("\n", 0, chunk.end) + 1
        around = [
            node for node in opened if node.lineno <= first and last <= (node.end_lineno or 0)
        ]
        assert chunk.path == tuple(
            node.name for node in sorted(around, key=lambda node: node.lineno)
        )


def _unit(at: int, methods: list[int]) -> str:
    """Return a class with methods of so many lines, or a function where it has none."""
    body = [
        f"    def m{at}_{place}(self):\n" + "        self.call(1)\n" * lines
        for place, lines in enumerate(methods)
    ]
    return (
        f"class C{at}:\n    x = 1\n" + "\n".join(body) if body else f"def f{at}():\n    return 1\n"
    )


@pytest.mark.parametrize(
    ("format", "text"),
    [("cobol", "x = 1\n\ny = 2"), ("python", "This is, of course, no program (at all\n" * 30)],
)
def test_what_no_grammar_reads_is_cut_as_plain_text(format: str, text: str) -> None:
    assert Code().chunk(text, format=format, options=sizes(40)) == Recursive().chunk(
        text, options=sizes(40)
    )


def test_a_missing_grammar_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    parser_of.cache_clear()
    with pytest.raises(InputError, match=r"clew\[code\]"):
        Code().chunk(MODULE, format="python", options=sizes(40))
    parser_of.cache_clear()


# Semantic


def by_subject(seen: list[list[str]]) -> Callable[[list[str]], Vectors]:
    """Vectors of three subjects, told by a word; keeps what it was asked."""

    def embed(asked: list[str]) -> Vectors:
        seen.append(asked)
        rows = [
            [("cat" in text) + 0.01, ("tax" in text) + 0.01, ("jazz" in text) + 0.01]
            for text in asked
        ]
        return np.array(rows, np.float32)

    return embed


SUBJECTS = " ".join(
    f"The {word} is on line {n}." for word in ("cat", "tax", "jazz") for n in range(6)
)


def test_a_change_of_subject_ends_a_chunk_and_all_units_are_embedded_at_once() -> None:
    seen: list[list[str]] = []
    chunks = Semantic(by_subject(seen)).chunk(SUBJECTS, options=sizes(60, target=40, least=5))
    assert len(seen) == 1 and len(seen[0]) == 18
    assert [chunk.boundary for chunk in chunks] == [
        Boundary.SEMANTIC,
        Boundary.SEMANTIC,
        Boundary.STRUCTURAL,
    ]
    assert [
        word in chunk.text for chunk, word in zip(chunks, ("cat", "tax", "jazz"), strict=True)
    ] == [True] * 3
    assert all(sum(word in chunk.text for word in ("cat", "tax", "jazz")) == 1 for chunk in chunks)


def test_where_size_forces_a_cut_it_falls_on_the_strongest_boundary_in_reach() -> None:
    assert best_cuts(
        [0, -0.3, -0.1, -0.3, -0.3], [0, 10, 20, 30, 40, 50], least=0, target=40, most=40
    ) == [2, 5]


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(1, 9)), min_size=1, max_size=9))
def test_the_best_cuts_are_those_that_trying_all_would_find(units: list[tuple[float, int]]) -> None:
    gains = [gain for gain, _ in units]
    sums = [0, *np.cumsum([size for _, size in units]).tolist()]
    found = best_cuts(gains, sums, least=0, target=10, most=12)
    assert value(found, gains, sums) == pytest.approx(
        max(value(cuts, gains, sums) for cuts in all_cuts(len(units)))
    )


def value(cuts: list[int], gains: list[float], sums: list[int]) -> float:
    total = sum(gains[cut] for cut in cuts[:-1])
    for start, end in zip([0, *cuts], cuts, strict=False):
        size = sums[end] - sums[start]
        total -= 0.02 * (size / 10 - 1) ** 2 + (1e9 if size > 12 else 0)
    return total


def all_cuts(units: int) -> list[list[int]]:
    return [
        [*(at for at in range(1, units) if chosen >> (at - 1) & 1), units]
        for chosen in range(1 << (units - 1))
    ]


def test_a_forced_cut_overlaps_and_a_change_of_subject_does_not() -> None:
    text = " ".join(f"The cat is on line {n}." for n in range(20)) + " The tax is due."
    chunks = Semantic(by_subject([])).chunk(text, options=sizes(40, least=3, overlap=8))
    for before, after in pairwise(chunks):
        assert (after.start < before.end) == (before.boundary is Boundary.SIZE_LIMIT)


# Counting


@given(st.text(st.characters(exclude_categories=())))
def test_the_quick_estimate_is_the_slow_one(text: str) -> None:
    assert estimate(text) == max(
        token_estimate(text), estimate(text) if max(map(len, text.split()), default=0) >= 64 else 0
    )


@pytest.mark.model
def test_a_quick_count_of_a_tokenizer_is_its_own_on_real_text(real_model: Path) -> None:
    tokenizer = WordPiece.from_file(real_model / "tokenizer.json")
    quick = RunCounts(tokenizer.count)
    for text in (
        GUIDE,
        MODULE,
        TRANSCRIPT,
        "naïve Café\u00a0x\x0by\x85z [SEP] 数据库 ½ don't\u2028stop",
        Path(__file__).read_text(encoding="utf-8"),
    ):
        assert quick(text) == tokenizer.count(text)


# Choosing, and hostile texts


@pytest.mark.parametrize(
    "format", ["markdown", "html", "conversation", "python", "tsx", "text", "unheard-of"]
)
def test_the_dispatcher_hands_a_text_to_the_chunker_of_its_format(format: str) -> None:
    text = (FIXTURES / "guide.md").read_text(encoding="utf-8")
    assert Structural().chunk(text, format=format, options=sizes(60)) == chunker_for(format).chunk(
        text, format=format, options=sizes(60)
    )


HOSTILE = {
    "letters": "x",
    "words": "a ",
    "fences": "```\n",
    "items": "- ```\n",
    "tags": "<div>",
    "comments": "<!--",
    "quotes": '/*\n"\n',
    "brackets": "([{\n",
    "speakers": "Ann: ",
    "returns": "x\r",
}


@pytest.mark.parametrize("format", ["text", "markdown", "html", "conversation", "javascript"])
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_any_text_is_cut_in_time_in_proportion_to_its_length(unit: str, format: str) -> None:
    check_linear(lambda size: check_whole(unit * (size // len(unit)), format), 10_000)


@pytest.mark.parametrize("format", ["text", "markdown", "html", "conversation", "javascript"])
def test_blanks_around_a_letter_are_cut_in_time_in_proportion_to_their_length(format: str) -> None:
    check_linear(lambda size: check_whole(" " * size + "x" + " " * size, format), 10_000)


def check_whole(text: str, format: str) -> None:
    chunks = Structural().chunk(text, format=format)
    assert sum(len(chunk.text) for chunk in chunks) >= len("".join(text.split()))
