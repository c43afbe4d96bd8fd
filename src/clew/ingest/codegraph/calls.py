"""Which definition does a call reach? The nearest meaning of its name; what has several meanings reaches none."""

from __future__ import annotations

import builtins
import posixpath
from collections import defaultdict
from collections.abc import Mapping

from clew.ingest.codegraph.lookup import LONGEST_CHAIN, SAME_FILE, SAME_PACKAGE, Found, Names
from clew.ingest.codegraph.modules import FAMILIES
from clew.ingest.codegraph.scopes import FILE, Scopes
from clew.ingest.codegraph.values import EXPRESSION, Binding, Call, DefinitionKind, FileSymbols

BY_TYPE = 0.8  # the receiver's type was declared, or it was made by its class
ONLY_FUNCTION, ONLY_METHOD = 0.5, 0.4  # nothing else in the tree has the name
MOST_ALIKE = 50  # definitions of one name that are remembered
SELVES = frozenset({"self", "this", "cls"})
IMPLICIT_SELF = frozenset({"java", "cpp"})  # a bare name may be a member of the class around it
DEEPEST_TYPE = 4  # bindings that are followed from one to the next
# Names that every standard library gives to methods of its own: on an unknown receiver they say nothing.
COMMON_METHODS = frozenset(
    """
    add all any append apply as_ref as_str at begin bind build call capitalize catch charAt chars clear clone close collect compare
    concat contains containsKey copy count create debug decode default delete emplace_back empty encode end endsWith endswith
    entries entry equals error every exec exists expanduser expect extend fetch fill filter find findall first flatMap flush fmt
    forEach format from get getattr getName group groups handle has has_key hashCode hasNext head id includes indexOf info init
    insert into is_dir is_empty is_file is_none is_some isEmpty items iter iterdir join key keys last len length list load lock log
    lower lstrip map match max merge min mkdir name new next nth ok open or_else parse partition pop pop_back popitem post push
    push_back put read read_bytes read_text readline readlines reduce register release remove render replace request reset resize
    resolve result reverse rfind rmdir rsplit rstrip run save search send set setdefault setName shift size slice some sort sorted
    splice split splitlines start startsWith startswith stop str stream strip sub subscribe substr substring sum test then title
    to_owned to_string to_vec toLowerCase toString toUpperCase trim unlink unlock unwrap unwrap_or update upper value valueOf values
    wait warn warning with with_suffix write write_bytes write_text writelines zip
    """.split()
)
BUILTINS = frozenset(dir(builtins))


class Calls:
    """Follows the calls of a tree."""

    def __init__(self, files: Mapping[str, FileSymbols], names: Names) -> None:
        self._files = files
        self._names = names
        self._functions: dict[tuple[str, str], list[Found]] = defaultdict(list)
        self._methods: dict[tuple[str, str], list[Found]] = defaultdict(list)
        self._included: dict[str, set[str]] = {}
        for path in sorted(files):
            self._enter(path)

    def _enter(self, path: str) -> None:
        family = FAMILIES[self._files[path].language]
        for name, index in self._names.scopes[path].outer.items():
            _remember(self._functions[family, name], Found((path,), index, ONLY_FUNCTION))
        for index, each in enumerate(self._files[path].definitions):
            if each.kind is DefinitionKind.METHOD:
                _remember(self._methods[family, each.name], Found((path,), index, ONLY_METHOD))

    def reached(self, path: str, call: Call) -> Found | None:
        """Return the definition that a call of a file reaches."""
        scopes = self._names.scopes[path]
        found = self._bare(path, scopes, call) if not call.receiver else self._on_receiver(path, scopes, call)
        return found if found is not None and found.place >= 0 else None

    def _bare(self, path: str, scopes: Scopes, call: Call) -> Found | None:
        near = self._lexical(path, scopes, call.name, call.start)
        if near is not None:
            return near if isinstance(near, Found) else None  # a binding hides what has its name outside
        found = self._names.visible(path, call.name)
        if found is not None or self._names.is_foreign(path, call.name) or scopes.binding(FILE, call.name, call.start):
            return found
        return self._linked(path, call.name) if FAMILIES[self._files[path].language] == "c" else self._only(path, call.name)

    def _lexical(self, path: str, scopes: Scopes, name: str, offset: int) -> Found | Binding | None:
        """Return what a name means in the definitions around an offset, innermost first."""
        for index in scopes.around(offset):
            each = scopes.definitions[index]
            if each.kind is not DefinitionKind.CLASS:
                inner = scopes.qualified.get(f"{each.qualified}.{name}")
                if inner is not None:
                    return Found((path,), inner, SAME_FILE)
                bound = scopes.binding(index, name, offset)
                if bound is not None:
                    return bound
        if self._files[path].language not in IMPLICIT_SELF:
            return None
        owner = scopes.class_at(offset)
        while owner and (found := self._own_member(path, owner, name)) is None:
            owner = owner.rpartition(".")[0]  # the class or namespace around that one
        return found if owner else None

    def _own_member(self, path: str, owner: str, name: str) -> Found | None:
        """Return a member of the class that a piece of code stands in; the class itself may be in another file."""
        own = self._names.method(path, owner, name)
        whole = self._names.dotted(path, owner) or self._names.in_unit(path, owner) if own is None else None
        return own or (self._names.member(whole, name) if whole else None)

    def _on_receiver(self, path: str, scopes: Scopes, call: Call) -> Found | None:
        if call.receiver == EXPRESSION:
            return self._only_method(path, call.name)
        parts = call.receiver.split(".")
        if len(parts) > LONGEST_CHAIN or self._names.is_foreign(path, parts[0]):
            return None
        if parts in (["self"], ["this"], ["cls"]):
            return self._own_member(path, scopes.class_at(call.start), call.name)
        if parts == ["super"]:
            return self._inherited(path, scopes.class_at(call.start), call.name)
        owner = self._meaning(path, scopes, parts, call.start, DEEPEST_TYPE)
        return self._names.member(owner, call.name) if owner is not None else self._only_method(path, call.name)

    def _inherited(self, path: str, owner: str, name: str) -> Found | None:
        index = self._names.scopes[path].qualified.get(owner)
        bases = self._files[path].definitions[index].bases if index is not None else ()
        above = (self._names.dotted(path, base) for base in bases)
        return next((found for base in above if base is not None and (found := self._names.member(base, name)) is not None), None)

    def _meaning(self, path: str, scopes: Scopes, parts: list[str], offset: int, depth: int) -> Found | None:
        """Return the class or module that a path of names stands for at an offset."""
        owner = scopes.class_at(offset)
        if parts[0] in SELVES:
            return self._along(path, self._class(path, owner), parts[1:], depth)
        near = self._lexical(path, scopes, parts[0], offset)
        if near is None and self._files[path].language in IMPLICIT_SELF and scopes.field(owner, parts[0]) is not None:
            return self._along(path, self._class(path, owner), parts, depth)
        bound = near if isinstance(near, Binding) else None
        if near is None:
            found = self._names.dotted(path, ".".join(parts))
            bound = scopes.binding(FILE, parts[0], offset) if found is None else None
            if bound is None:
                return found
        begun = near if isinstance(near, Found) else self._typed(path, scopes, bound, offset, depth)
        return self._along(path, begun, parts[1:], depth)

    def _typed(self, path: str, scopes: Scopes, bound: Binding | None, offset: int, depth: int) -> Found | None:
        if bound is None or not bound.type or not depth:
            return None
        return self._type(path, scopes, bound.type, offset, depth - 1)

    def _type(self, path: str, scopes: Scopes, name: str, offset: int, depth: int) -> Found | None:
        """Return the class of a name; a function that makes something says nothing of what it makes."""
        parts = name.split(".")
        if len(parts) > LONGEST_CHAIN or self._names.is_foreign(path, parts[0]):
            return None
        found = self._meaning(path, scopes, parts, offset, depth)
        if found is None or found.place < 0 or self._names.definition(found).kind is not DefinitionKind.CLASS:
            return None
        return found._replace(confidence=min(found.confidence, BY_TYPE))

    def _along(self, path: str, found: Found | None, fields: list[str], depth: int) -> Found | None:
        """Return the class that is reached through fields of classes."""
        for field in fields:
            if found is None or found.place < 0 or not depth:
                return None
            home, owner = found.paths[0], self._names.definition(found)
            kind = self._names.scopes[home].field(owner.qualified, field)
            if kind is None and home != path:
                return None
            found = self._type(home, self._names.scopes[home], kind, owner.start, depth - 1) if kind else None
        return found

    def _class(self, path: str, owner: str) -> Found | None:
        return (self._names.dotted(path, owner) or self._names.in_unit(path, owner)) if owner else None

    def _linked(self, path: str, name: str) -> Found | None:
        """Return a function of C that is declared in a header and defined elsewhere: beside an included header, or the only one."""
        found = self._functions.get((FAMILIES[self._files[path].language], name), ())
        if path not in self._included:
            self._included[path] = {_stem(said.module.strip("<>")) for said in self._files[path].imports}
        beside = [each for each in found if _stem(each.paths[0]) in self._included[path]]
        if len(beside) == 1:
            return beside[0]._replace(confidence=SAME_PACKAGE)
        return found[0] if len(found) == 1 else None

    def _only(self, path: str, name: str) -> Found | None:
        found = self._functions.get((FAMILIES[self._files[path].language], name), ())
        return found[0] if len(found) == 1 and name not in BUILTINS else None

    def _only_method(self, path: str, name: str) -> Found | None:
        found = self._methods.get((FAMILIES[self._files[path].language], name), ())
        return found[0] if len(found) == 1 and name not in COMMON_METHODS and not name.startswith("__") else None


def _remember(found: list[Found], one: Found) -> None:
    if len(found) < MOST_ALIKE:
        found.append(one)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
