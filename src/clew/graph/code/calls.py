"""Resolve names through imports, re-exports and stars, and calls to their definitions."""

from __future__ import annotations

import builtins
import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clew.graph.code.module_tree import ImportedName
from clew.graph.code.modules import FAMILIES
from clew.graph.code.values import (
    EXPRESSION,
    FILE,
    STAR,
    Binding,
    Call,
    Definition,
    DefinitionKind,
    FileSymbols,
    Scopes,
)

MODULE = -1  # the place of what is a module and not a definition
SAME_FILE, IMPORTED, SAME_PACKAGE, THROUGH_STAR = 1.0, 0.95, 0.9, 0.8
PACKAGE_LANGUAGES = frozenset(
    {"go", "java"}
)  # files see the names of their package without an import
MAX_CHAIN = 8  # files through which a name is passed on
MAX_MEANINGS = 64  # of one name in one file: the files of a package, or stars
MAX_STARS = 64  # files that are looked into for one name
MAX_BASES = 64  # classes that are looked into for one member


class Target(NamedTuple):
    """What a name stands for: a definition of a file, or the modules of several."""

    paths: tuple[str, ...]
    place: int
    """Which of the file's definitions it is, or MODULE."""
    confidence: float


class Names:
    """The names of all files of a tree."""

    def __init__(
        self, files: Mapping[str, FileSymbols], bound: Mapping[str, Sequence[ImportedName]]
    ) -> None:
        self.files = files
        self.scopes = {path: Scopes(symbols) for path, symbols in files.items()}
        self._imported: dict[str, dict[str, list[ImportedName]]] = {
            path: defaultdict(list) for path in files
        }
        for importer in sorted(bound):
            for each in dict.fromkeys(bound[importer]):
                if len(self._imported[importer][each.local]) < MAX_MEANINGS:
                    self._imported[importer][each.local].append(each)
        self._foreign = {path: _foreign_names(files[path], self._imported[path]) for path in files}
        self._known: dict[tuple[str, str], Target | None] = {}
        self._units: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        for path in sorted(files):
            self._enter(path)

    def definition(self, found: Target) -> Definition:
        """Return the definition that was found."""
        return self.files[found.paths[0]].definitions[found.place]

    def is_foreign(self, path: str, name: str) -> bool:
        """Tell whether a file has a name from outside the tree."""
        return name in self._foreign[path]

    def named(self, path: str, name: str) -> Target | None:
        """Return what a name means at the outermost level of a file, re-exports included."""
        if (path, name) not in self._known:
            self._known[path, name] = self._named(path, name, set(), MAX_CHAIN)
        return self._known[path, name]

    def visible(self, path: str, name: str) -> Target | None:
        """Return what a name means in a file.

        Its own and imported names, then those of its package.
        """
        found = self.named(path, name)
        return found or (
            self.in_unit(path, name) if self.files[path].language in PACKAGE_LANGUAGES else None
        )

    def in_unit(self, path: str, qualified: str) -> Target | None:
        """Return a definition of the files that belong together with one.

        A Go package, a header and its source.
        """
        unit = _unit(path, self.files[path])
        places = self._units.get((unit, qualified), ()) if unit else ()
        near = min(
            places,
            key=lambda place: (posixpath.dirname(place[0]) != posixpath.dirname(path), place),
            default=None,
        )
        return Target((near[0],), near[1], SAME_PACKAGE) if near else None

    def _enter(self, path: str) -> None:
        unit = _unit(path, self.files[path])
        for qualified, index in self.scopes[path].qualified.items() if unit else ():
            self._units[unit, qualified].append((path, index))

    def _named(self, path: str, name: str, seen: set[tuple[str, str]], steps: int) -> Target | None:
        scopes = self.scopes[path]
        index = scopes.outer.get(name, scopes.qualified.get(name) if "." in name else None)
        if index is not None:
            return Target((path,), index, SAME_FILE)
        if (path, name) in seen or not steps or len(seen) > MAX_STARS:
            return None
        seen.add((path, name))
        return self._through_import(path, name, seen, steps) or self._through_star(
            path, name, seen, steps
        )

    def _through_import(
        self, path: str, name: str, seen: set[tuple[str, str]], steps: int
    ) -> Target | None:
        bound = self._imported[path].get(name, ())
        modules = tuple(each.path for each in bound if not each.name)
        if modules:
            return Target(modules, MODULE, IMPORTED)
        for each in bound:
            found = self._named(each.path, each.name, seen, steps - 1) or self._default(each)
            if found is not None:
                return found._replace(confidence=min(found.confidence, IMPORTED))
        return None

    def _default(self, bound: ImportedName) -> Target | None:
        """Return what a module of JavaScript exports as its default.

        What has the name it is given here, or its only definition.
        """
        if bound.name != "default":
            return None
        outer = self.scopes[bound.path].outer
        index = outer.get(bound.local, next(iter(outer.values())) if len(outer) == 1 else None)
        return Target((bound.path,), index, THROUGH_STAR) if index is not None else None

    def _through_star(
        self, path: str, name: str, seen: set[tuple[str, str]], steps: int
    ) -> Target | None:
        for each in self._imported[path].get(STAR, ()):
            found = self._named(each.path, name, seen, steps - 1)
            if found is not None:
                return found._replace(confidence=min(found.confidence, THROUGH_STAR))
        return None

    def member(self, found: Target, name: str) -> Target | None:
        """Return what a name means inside a module or a class, its bases included."""
        if found.place == MODULE:
            each = (self.named(path, name) for path in found.paths)
            inner = next((one for one in each if one is not None), None)
        else:
            inner = self._of_class(found, name)
        return inner._replace(confidence=min(inner.confidence, found.confidence)) if inner else None

    def _of_class(self, found: Target, name: str) -> Target | None:
        """Return a member of a class or of its nearest base class, breadth first."""
        waiting, seen = [found], {found[:2]}
        for each in waiting:  # grows while it is read
            path, owner = each.paths[0], self.definition(each)
            own = self.method(path, owner.qualified, name)
            if own is not None:
                return own
            above = [
                base
                for text in owner.bases
                if (base := self.dotted(path, text)) is not None and base.place != MODULE
            ]
            fresh = [base for base in above if base[:2] not in seen]
            seen.update(base[:2] for base in fresh)
            waiting += fresh if len(seen) <= MAX_BASES else []
        return None

    def method(self, path: str, owner: str, name: str) -> Target | None:
        """Return a definition inside another by the qualified name of the other."""
        index = self.scopes[path].qualified.get(f"{owner}.{name}")
        return (
            Target((path,), index, SAME_FILE)
            if index is not None
            else self.in_unit(path, f"{owner}.{name}")
        )

    def dotted(self, path: str, name: str) -> Target | None:
        """Return what a path of names means at the outermost level of a file."""
        parts = name.split(".")[:MAX_CHAIN]
        for take in range(len(parts), 0, -1):
            found = self.visible(path, ".".join(parts[:take]))
            for part in parts[take:] if found else ():
                found = self.member(found, part) if found else None
            if found is not None:
                return found
        return None


def _foreign_names(
    symbols: FileSymbols, known: Mapping[str, Sequence[ImportedName]]
) -> frozenset[str]:
    """Return the names that a file's imports bring from outside the tree."""
    names = {local for said in symbols.imports for _, local in said.names}
    modules = {
        said.alias or _first_name(said.module, symbols.language)
        for said in symbols.imports
        if not said.names
    }
    own = {local.partition(".")[0] for local in known}
    return frozenset((names | modules) - own - {STAR})


def _first_name(module: str, language: str) -> str:
    return module.rpartition("/")[2] if language == "go" else module.partition(".")[0]


def _unit(path: str, symbols: FileSymbols) -> str:
    """Return what the files that share their definitions without importing them have in common."""
    if symbols.language == "java":
        return f"java {symbols.package}"
    if symbols.language == "go":
        return f"go {posixpath.dirname(path)}"
    return (
        f"c {posixpath.splitext(posixpath.basename(path))[0]}"
        if FAMILIES[symbols.language] == "c"
        else ""
    )


BY_TYPE = 0.8  # the receiver's type was declared, or it was made by its class
ONLY_FUNCTION, ONLY_METHOD = 0.5, 0.4  # nothing else in the tree has the name
MAX_SAME_NAME = 50  # definitions of one name that are remembered
SELF_NAMES = frozenset({"self", "this", "cls"})
IMPLICIT_SELF = frozenset({"java", "cpp"})  # a bare name may be a member of the class around it
MAX_TYPE_DEPTH = 4  # bindings that are followed from one to the next
# Names that every standard library gives to methods of its own: on an unknown receiver they say
# nothing.
COMMON_METHODS = frozenset(
    """
    add all any append apply as_ref as_str at begin bind build call capitalize catch charAt chars
    clear clone close collect compare concat contains containsKey copy count create debug decode
    default delete emplace_back empty encode end endsWith endswith entries entry equals error every
    exec exists expanduser expect extend fetch fill filter find findall first flatMap flush fmt
    forEach format from get getattr getName group groups handle has has_key hashCode hasNext head id
    includes indexOf info init insert into is_dir is_empty is_file is_none is_some isEmpty items
    iter iterdir join key keys last len length list load lock log lower lstrip map match max merge
    min mkdir name new next nth ok open or_else parse partition pop pop_back popitem post push
    push_back put read read_bytes read_text readline readlines reduce register release remove render
    replace request reset resize resolve result reverse rfind rmdir rsplit rstrip run save search
    send set setdefault setName shift size slice some sort sorted splice split splitlines start
    startsWith startswith stop str stream strip sub subscribe substr substring sum test then title
    to_owned to_string to_vec toLowerCase toString toUpperCase trim unlink unlock unwrap unwrap_or
    update upper value valueOf values wait warn warning with with_suffix write write_bytes
    write_text writelines zip
    """.split()
)
BUILTINS = frozenset(dir(builtins))


class Calls:
    """Follows the calls of a tree."""

    def __init__(self, files: Mapping[str, FileSymbols], names: Names) -> None:
        self._files = files
        self._names = names
        self._functions: dict[tuple[str, str], list[Target]] = defaultdict(list)
        self._methods: dict[tuple[str, str], list[Target]] = defaultdict(list)
        self._included: dict[str, set[str]] = {}
        for path in sorted(files):
            self._enter(path)

    def _enter(self, path: str) -> None:
        family = FAMILIES[self._files[path].language]
        for name, index in self._names.scopes[path].outer.items():
            _append_bounded(self._functions[family, name], Target((path,), index, ONLY_FUNCTION))
        for index, each in enumerate(self._files[path].definitions):
            if each.kind is DefinitionKind.METHOD:
                _append_bounded(
                    self._methods[family, each.name], Target((path,), index, ONLY_METHOD)
                )

    def reached(self, path: str, call: Call) -> Target | None:
        """Return the definition that a call of a file reaches."""
        scopes = self._names.scopes[path]
        found = (
            self._bare(path, scopes, call)
            if not call.receiver
            else self._on_receiver(path, scopes, call)
        )
        return found if found is not None and found.place >= 0 else None

    def _bare(self, path: str, scopes: Scopes, call: Call) -> Target | None:
        near = self._lexical(path, scopes, call.name, call.start)
        if near is not None:
            # a binding hides what has its name outside
            return near if isinstance(near, Target) else None
        found = self._names.visible(path, call.name)
        if (
            found is not None
            or self._names.is_foreign(path, call.name)
            or scopes.binding(FILE, call.name, call.start)
        ):
            return found
        return (
            self._linked(path, call.name)
            if FAMILIES[self._files[path].language] == "c"
            else self._only(path, call.name)
        )

    def _lexical(
        self, path: str, scopes: Scopes, name: str, offset: int
    ) -> Target | Binding | None:
        """Return what a name means in the definitions around an offset, innermost first."""
        for index in scopes.around(offset):
            each = scopes.definitions[index]
            if each.kind is not DefinitionKind.CLASS:
                inner = scopes.qualified.get(f"{each.qualified}.{name}")
                if inner is not None:
                    return Target((path,), inner, SAME_FILE)
                bound = scopes.binding(index, name, offset)
                if bound is not None:
                    return bound
        if self._files[path].language not in IMPLICIT_SELF:
            return None
        owner = scopes.class_at(offset)
        while owner and (found := self._own_member(path, owner, name)) is None:
            owner = owner.rpartition(".")[0]  # the class or namespace around that one
        return found if owner else None

    def _own_member(self, path: str, owner: str, name: str) -> Target | None:
        """Return a member of the class that a piece of code stands in.

        The class itself may be in another file.
        """
        own = self._names.method(path, owner, name)
        whole = (
            self._names.dotted(path, owner) or self._names.in_unit(path, owner)
            if own is None
            else None
        )
        return own or (self._names.member(whole, name) if whole else None)

    def _on_receiver(self, path: str, scopes: Scopes, call: Call) -> Target | None:
        if call.receiver == EXPRESSION:
            return self._only_method(path, call.name)
        parts = call.receiver.split(".")
        if len(parts) > MAX_CHAIN or self._names.is_foreign(path, parts[0]):
            return None
        if parts in (["self"], ["this"], ["cls"]):
            return self._own_member(path, scopes.class_at(call.start), call.name)
        if parts == ["super"]:
            return self._inherited(path, scopes.class_at(call.start), call.name)
        owner = self._meaning(path, scopes, parts, call.start, MAX_TYPE_DEPTH)
        return (
            self._names.member(owner, call.name)
            if owner is not None
            else self._only_method(path, call.name)
        )

    def _inherited(self, path: str, owner: str, name: str) -> Target | None:
        index = self._names.scopes[path].qualified.get(owner)
        bases = self._files[path].definitions[index].bases if index is not None else ()
        above = (self._names.dotted(path, base) for base in bases)
        return next(
            (
                found
                for base in above
                if base is not None and (found := self._names.member(base, name)) is not None
            ),
            None,
        )

    def _meaning(
        self, path: str, scopes: Scopes, parts: list[str], offset: int, depth: int
    ) -> Target | None:
        """Return the class or module that a path of names stands for at an offset."""
        owner = scopes.class_at(offset)
        if parts[0] in SELF_NAMES:
            return self._along(path, self._class(path, owner), parts[1:], depth)
        near = self._lexical(path, scopes, parts[0], offset)
        if (
            near is None
            and self._files[path].language in IMPLICIT_SELF
            and scopes.field(owner, parts[0]) is not None
        ):
            return self._along(path, self._class(path, owner), parts, depth)
        bound = near if isinstance(near, Binding) else None
        if near is None:
            found = self._names.dotted(path, ".".join(parts))
            bound = scopes.binding(FILE, parts[0], offset) if found is None else None
            if bound is None:
                return found
        begun = (
            near if isinstance(near, Target) else self._typed(path, scopes, bound, offset, depth)
        )
        return self._along(path, begun, parts[1:], depth)

    def _typed(
        self, path: str, scopes: Scopes, bound: Binding | None, offset: int, depth: int
    ) -> Target | None:
        if bound is None or not bound.type or not depth:
            return None
        return self._type(path, scopes, bound.type, offset, depth - 1)

    def _type(self, path: str, scopes: Scopes, name: str, offset: int, depth: int) -> Target | None:
        """Return the class of a name.

        A function that makes something says nothing of what it makes.
        """
        parts = name.split(".")
        if len(parts) > MAX_CHAIN or self._names.is_foreign(path, parts[0]):
            return None
        found = self._meaning(path, scopes, parts, offset, depth)
        if (
            found is None
            or found.place < 0
            or self._names.definition(found).kind is not DefinitionKind.CLASS
        ):
            return None
        return found._replace(confidence=min(found.confidence, BY_TYPE))

    def _along(
        self, path: str, found: Target | None, fields: list[str], depth: int
    ) -> Target | None:
        """Return the class that is reached through fields of classes."""
        for field in fields:
            if found is None or found.place < 0 or not depth:
                return None
            home, owner = found.paths[0], self._names.definition(found)
            kind = self._names.scopes[home].field(owner.qualified, field)
            if kind is None and home != path:
                return None
            found = (
                self._type(home, self._names.scopes[home], kind, owner.start, depth - 1)
                if kind
                else None
            )
        return found

    def _class(self, path: str, owner: str) -> Target | None:
        return (
            (self._names.dotted(path, owner) or self._names.in_unit(path, owner)) if owner else None
        )

    def _linked(self, path: str, name: str) -> Target | None:
        """Return a function of C that is declared in a header and defined elsewhere.

        Beside an included header, or the only one.
        """
        found = self._functions.get((FAMILIES[self._files[path].language], name), ())
        if path not in self._included:
            self._included[path] = {
                _stem(said.module.strip("<>")) for said in self._files[path].imports
            }
        beside = [each for each in found if _stem(each.paths[0]) in self._included[path]]
        if len(beside) == 1:
            return beside[0]._replace(confidence=SAME_PACKAGE)
        return found[0] if len(found) == 1 else None

    def _only(self, path: str, name: str) -> Target | None:
        found = self._functions.get((FAMILIES[self._files[path].language], name), ())
        return found[0] if len(found) == 1 and name not in BUILTINS else None

    def _only_method(self, path: str, name: str) -> Target | None:
        found = self._methods.get((FAMILIES[self._files[path].language], name), ())
        return (
            found[0]
            if len(found) == 1 and name not in COMMON_METHODS and not name.startswith("__")
            else None
        )


def _append_bounded(found: list[Target], one: Target) -> None:
    if len(found) < MAX_SAME_NAME:
        found.append(one)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
