"""What is read from one file, and how names are followed from file to file."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.graph.code.graph import CodeGraph, build_graph
from clew.graph.code.languages import GRAMMARS, parser_of
from clew.graph.code.symbols import symbols
from clew.graph.code.values import EXPRESSION, DefinitionKind, FileSymbols
from tests.growth import check_linear

LANGUAGES = sorted(GRAMMARS)


def python(**texts: str) -> CodeGraph:
    """Return the graph of modules that lie in one folder."""
    files = {f"{name}.py": text for name, text in texts.items()}
    return build_graph(files, dict.fromkeys(files, "python"))


def calls(made: CodeGraph) -> list[tuple[str, str, float]]:
    return [
        (link.evidence, f"{link.target} {link.definition.qualified}", link.confidence)
        for link in made.calls
    ]


def check_offsets(text: str, found: FileSymbols) -> None:
    for call in found.calls:
        assert text[call.start : call.end] == call.name
    for each in found.definitions:
        assert each.name in text[each.start : each.end]
    for said in found.imports:
        assert 0 <= said.start < said.end <= len(text)
    for binding in found.bindings:
        assert text.startswith(binding.name, binding.start)


# One file


def test_definitions_have_qualified_names_kinds_bases_and_spans() -> None:
    text = "@wraps\nclass Café(Base, shop.Stored):\n    async def öffnen(self):\n        def inner(): ...\n\ndef last(): ...\n"
    found = symbols(text, language="python").definitions
    assert [(each.qualified, each.kind, each.line) for each in found] == [
        ("Café", DefinitionKind.CLASS, 2),
        ("Café.öffnen", DefinitionKind.METHOD, 3),
        ("Café.öffnen.inner", DefinitionKind.FUNCTION, 4),
        ("last", DefinitionKind.FUNCTION, 6),
    ]
    assert found[0].bases == ("Base", "shop.Stored")
    assert (
        text[found[1].start : found[1].end].startswith("async def öffnen")
        and text[found[3].start : found[3].end] == "def last(): ..."
    )


def test_offsets_count_characters_not_bytes() -> None:
    text = 'größe = "🎈🎈"\n\ndef 名前(x):\n    return größe_von(x).länge()\n'
    found = symbols(text, language="python")
    assert [(call.name, call.receiver) for call in found.calls] == [
        ("größe_von", ""),
        ("länge", EXPRESSION),
    ]
    check_offsets(text, found)


def test_an_import_of_python_says_module_names_aliases_and_level() -> None:
    text = "import a.b as c, d\nfrom ..e import (f as g, h)\nfrom . import *\n"
    found = [each[:4] for each in symbols(text, language="python").imports]
    assert found == [
        ("a.b", (), "c", 0),
        ("d", (), "", 0),
        ("e", (("f", "g"), ("h", "h")), "", 2),
        ("", (("*", "*"),), "", 1),
    ]


def test_calls_name_their_receiver_or_say_that_it_has_no_name() -> None:
    text = "f()\na.b.g()\nf()()\nf().h()\nx[0].i()\nsuper().j()\n"
    assert [(call.name, call.receiver) for call in symbols(text, language="python").calls] == [
        ("f", ""),
        ("g", "a.b"),
        ("f", ""),
        ("f", ""),
        ("h", EXPRESSION),
        ("i", EXPRESSION),
        ("super", ""),
        ("j", "super"),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "python",
            "def good(): ...\n\ndef broken(x):\n    return x + * 1\n\ndef after():\n    call_me()\n",
        ),
        ("javascript", "function good() {}\nlet = = 1;\nfunction after() { call_me(); }\n"),
        ("go", "package p\nfunc good() {}\nfunc ( {\n}\nfunc after() { call_me() }\n"),
        ("java", "class good { }\nclass { = }\nclass after { void m() { call_me(); } }\n"),
        ("c", "int good(void) { return 1; }\nint = = ;\nint after(void) { return call_me(); }\n"),
    ],
)
def test_a_file_with_errors_gives_what_can_be_had(language: str, text: str) -> None:
    found = symbols(text, language=language)
    assert {"good", "after"} <= {each.name for each in found.definitions}
    assert "call_me" in {call.name for call in found.calls}


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(max_size=300) | st.text("(){}[]<>:;=.,'\"\\#*&@\n abfé🎈", max_size=300))
def test_any_text_gives_symbols_with_exact_offsets(language: str, text: str) -> None:
    check_offsets(text, symbols(text, language=language))


@pytest.mark.parametrize("text", ["", " \n", "\ud800 = f()", "\x00", "x = 1\r\nf()\r\n"])
def test_odd_texts_are_read_too(text: str) -> None:
    check_offsets(text, symbols(text, language="python"))


def test_a_language_without_a_grammar_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"cobol.*Use one of c, cpp"):
        symbols("", language="cobol")


def test_a_missing_grammar_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    parser_of.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'clew\[code\]'"):
        symbols("package p", language="go")
    parser_of.cache_clear()


# Names through files


def test_a_cycle_of_imports_and_re_exports_ends() -> None:
    made = python(
        a="from b import f, g\nf()\n",
        b="from a import f\nfrom c import *\nfrom c import g\n",
        c="from b import *\ndef g(): ...\ng()\n",
    )
    assert {(link.source, link.target) for link in made.imports} == {
        ("a.py", "b.py"),
        ("a.py", "c.py"),
        ("b.py", "a.py"),
        ("b.py", "c.py"),
        ("c.py", "b.py"),
    }
    assert calls(made) == [("line 3: g()", "c.py g", 1.0)]


def test_a_name_that_is_passed_on_is_found_where_it_is_defined() -> None:
    made = python(
        main="from api import start\nstart()",
        api="from inner import run as start",
        inner="def run(): ...",
    )
    assert calls(made) == [("line 2: start()", "inner.py run", 0.95)]
    assert [
        (link.target, link.confidence) for link in made.imports if link.source == "main.py"
    ] == [("api.py", 1.0), ("inner.py", 0.95)]


def test_a_star_is_less_sure_than_a_name() -> None:
    made = python(main="from tools import *\ncut()", tools="def cut(): ...")
    assert calls(made) == [("line 2: cut()", "tools.py cut", 0.8)]


def test_what_is_nearer_hides_what_is_farther() -> None:
    functions = (
        "def outer():\n    def cut(): ...\n    cut()\n",
        "def given(cut):\n    cut()\n",
        "def bound():\n    cut = 1\n    cut()\n",
    )
    shadowed = "from tools import cut\n" + "".join(functions) + "cut()\n"
    made = python(main=shadowed, tools="def cut(): ...")
    assert calls(made) == [
        ("line 4: cut()", "main.py outer.cut", 1.0),
        ("line 10: cut()", "tools.py cut", 0.95),
    ]


def test_names_from_outside_the_tree_reach_nothing_in_it() -> None:
    made = python(
        main="import numpy as np\nfrom os import getcwd\nnp.array()\ngetcwd()\nprint()",
        other="def array(): ...\ndef getcwd(): ...\ndef print(): ...",
    )
    assert calls(made) == []


def test_a_method_of_an_unknown_receiver_counts_only_when_no_other_has_its_name() -> None:
    one = "class A:\n    def untangle(self): ...\n    def append(self): ...\n"
    alone = python(a=one, main="def f(x):\n    x.untangle()\n    x.append(1)\n")
    assert calls(alone) == [("line 2: x.untangle()", "a.py A.untangle", 0.4)]
    assert calls(python(a=one, b=one, main="def f(x):\n    x.untangle()\n")) == []


def test_classes_that_are_derived_from_one_another_in_a_circle_end() -> None:
    names = "ABCDEFGH"
    text = "".join(
        f"class {name}({', '.join(names)}):\n    def go(self): self.absent()\n" for name in names
    )
    assert calls(python(main=text)) == []


def test_the_standard_library_comes_before_a_module_deep_in_the_tree() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/json/__init__.py": "def dumps(): ...",
        "pkg/main.py": "import json\nfrom . import json as ours\njson.dumps()\nours.dumps()",
    }
    made = build_graph(files, dict.fromkeys(files, "python"))
    assert calls(made) == [("line 4: ours.dumps()", "pkg/json/__init__.py dumps", 0.95)]


def test_a_package_whose_empty_init_is_not_there_is_found_by_its_dotted_name() -> None:
    files = {
        "backend/shop/cart.py": "",
        "backend/shop/json.py": "",
        "tests/test_cart.py": "import shop.cart\nimport cart\nimport json\n",
    }
    made = build_graph(files, dict.fromkeys(files, "python"))
    assert [(link.source, link.target) for link in made.imports] == [
        ("tests/test_cart.py", "backend/shop/cart.py")
    ]


def test_every_file_needs_its_language() -> None:
    with pytest.raises(InputError, match=r"b\.py"):
        build_graph({"a.py": "", "b.py": ""}, {"a.py": "python"})


# Size


def generated(letters: int) -> str:
    return "".join(
        f"def f{n}(x):\n    return f{n + 1}(x) + g.h{n}(x)\n\n" for n in range(letters // 55)
    )


def test_generated_code_takes_time_in_proportion() -> None:
    check_linear(
        lambda letters: build_graph({"a.py": generated(letters)}, {"a.py": "python"}), 30_000
    )


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("python", [("import a\n", 1.0), ("a.f()\n", 1.0)]),
        ("python", [("x = f(x)\n", 1.5)]),
        ("python", [("from a import *\n", 0.5), ("f()\n", 0.5)]),
        ("javascript", [('const a = require("./a");\n', 0.5)]),
        ("c", [('#include "a.h"\n', 1.0), ("int f(void) { return g(); }\n", 0.5)]),
        ("rust", [("mod m { use super::a; }\n", 0.5)]),
        ("java", [('/*\n"\n', 5.0)]),
        ("cpp", [("(", 10.0)]),
    ],
    ids=["imports", "bindings", "stars", "requires", "includes", "modules", "comments", "brackets"],
)
def test_hostile_repetition_is_read_in_time_in_proportion(
    language: str, parts: list[tuple[str, float]]
) -> None:
    def read(size: int) -> None:
        files = {
            "b": "".join(piece * int(share * size) for piece, share in parts),
            "a.h": "",
            "a.js": "",
            "a.py": "",
        }
        build_graph(files, {"b": language, "a.h": "c", "a.js": "javascript", "a.py": "python"})

    check_linear(read, 1_000)
