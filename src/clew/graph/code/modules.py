"""Resolve imports to files of the same source tree, by the rules of each language."""

from __future__ import annotations

import posixpath
import sys
from collections import defaultdict

from clew.graph.code.module_tree import (
    ImportedName,
    Resolver,
    SourceTree,
    folder_of,
    folders_above,
    nearest,
    shared_folders,
)
from clew.graph.code.values import STAR, Definition, DefinitionKind, Import, Scopes

# C and C++: an include is a path from the file's own folder, or from a folder of headers.


class Includes:
    """Finds the files that are included."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the included file, whose names are all seen."""
        found = self._file(path, said.module)
        return (ImportedName(STAR, found, STAR),) if found is not None and found != path else ()

    def _file(self, path: str, module: str) -> str | None:
        plain = module.strip("<>")
        if not module.startswith("<"):
            beside = self._tree.there(posixpath.join(folder_of(path), plain))
            if beside is not None:
                return beside
        elif "/" not in plain:
            return None  # a header of the system, though the tree may have one of that name
        tail = posixpath.normpath(plain).lstrip("./")
        return self._tree.ending(tail, near=path) if tail else None


# Go: a package is a folder; the name of the module is what most imports of the tree's own folders
# begin with.

MAX_IMPORT_FOLDERS = 8  # folders of an import path that are tried
MAX_PACKAGE_FILES = 32  # of one package that an import leads to


class GoPackages:
    """Finds the folder of an import path."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._packages = {
            folder: files for folder, paths in tree.folders.items() if (files := _sources(paths))
        }
        self._tails: dict[str, list[str]] = defaultdict(list)
        for folder in self._packages:
            parts = folder.split("/")
            for take in range(1, min(MAX_IMPORT_FOLDERS, len(parts)) + 1):
                self._tails["/".join(parts[-take:])].append(folder)
        self._module = self._most_used_prefix()

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the files of the imported package, each under the package's name here."""
        folder = self._folder(said.module)
        if folder is None:
            return ()
        files = [file for file in self._packages[folder] if file != path][:MAX_PACKAGE_FILES]
        if said.names:  # a dot: all names of the package, without one for the package
            return tuple(ImportedName(STAR, file, STAR) for file in files)
        return tuple(
            ImportedName(said.alias or self._tree.files[file].package, file, "") for file in files
        )

    def _folder(self, module: str) -> str | None:
        if module.startswith("."):
            return None
        if self._module is None or not (
            module == self._module or module.startswith(f"{self._module}/")
        ):
            return None
        tail = module[len(self._module) :].strip("/")
        found = self._tails.get(tail, ()) if tail else self._roots()
        return min(found, key=lambda folder: (folder.count("/"), folder), default=None)

    def _roots(self) -> list[str]:
        return sorted(
            self._packages, key=lambda folder: (folder.count("/") + bool(folder), folder)
        )[:1]

    def _most_used_prefix(self) -> str | None:
        """Return what stands before the tree's own folders in import paths.

        The one that explains most of them.
        """
        explained: dict[str, set[str]] = defaultdict(set)
        for path in self._tree.paths:
            symbols = self._tree.files[path]
            for said in symbols.imports if symbols.language == "go" else ():
                for prefix, tail in _splits(said.module):
                    if tail in self._tails:
                        explained[prefix].add(tail)
        return min(
            explained,
            key=lambda prefix: (-len(explained[prefix]), len(prefix), prefix),
            default=None,
        )


def _splits(module: str) -> list[tuple[str, str]]:
    """Return the ways to split an import path into a module name and a folder."""
    parts = module.split("/")
    least = 2 if "." in parts[0] else 1
    return [
        ("/".join(parts[:at]), "/".join(parts[at:]))
        for at in range(least, min(len(parts), MAX_IMPORT_FOLDERS + least))
    ]


def _sources(paths: list[str]) -> list[str]:
    return [
        path
        for path in paths
        if posixpath.splitext(path)[1] == ".go" and not path.endswith("_test.go")
    ]


# Java: a class is known by its package and its name, wherever its file lies.

JAVA_MAX_PACKAGE_FILES = 200  # of one package that are seen through a star


class JavaPackages:
    """Finds the files of classes and packages."""

    def __init__(self, tree: SourceTree) -> None:
        self._classes: dict[str, list[str]] = defaultdict(list)
        self._packages: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path in tree.paths:
            symbols = tree.files[path]
            for each in symbols.definitions if symbols.language == "java" else ():
                self._enter(path, symbols.package, each)

    def _enter(self, path: str, package: str, definition: Definition) -> None:
        if definition.kind is not DefinitionKind.CLASS:
            return
        self._classes[f"{package}.{definition.qualified}".lstrip(".")].append(path)
        if "." not in definition.qualified:
            self._packages[package].append((definition.name, path))

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the classes that an import brings into a file, or the member of one."""
        name = said.names[0][0] if said.names else ""
        if name == STAR and said.module in self._packages:
            return self._seen(said.module, besides=path)
        whole = nearest(self._classes.get(f"{said.module}.{name}", ()), path)
        if whole is not None and whole != path:
            return (ImportedName(name, whole, name),)
        owner = nearest(self._classes.get(said.module, ()), path)
        return (
            (ImportedName(name, owner, f"{said.module.rpartition('.')[2]}.{name}"),)
            if owner and owner != path
            else ()
        )

    def _seen(self, package: str, *, besides: str) -> tuple[ImportedName, ...]:
        """Return the classes of a package that a star makes visible."""
        return tuple(
            ImportedName(name, path, name)
            for name, path in self._packages.get(package, ())[:JAVA_MAX_PACKAGE_FILES]
            if path != besides
        )


# JavaScript and TypeScript: relative paths with or without an extension, index files, `@/` for the
# sources.

ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
# TypeScript names what it compiles to
_WRITTEN_FOR = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_SOURCES = ("@/", "~/")  # what the usual configurations map to the folder of the sources


class JavaScriptModules:
    """Follows the paths that modules are imported by."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the names that an import brings into a file."""
        found = self._file(path, said.module)
        if found is None or found == path:
            return ()
        bound = [ImportedName(local, found, name) for name, local in said.names]
        if said.alias or not bound:
            bound.append(ImportedName(said.alias, found, ""))
        return tuple(bound)

    def _file(self, path: str, module: str) -> str | None:
        if module.startswith(("./", "../")) or module in (".", ".."):
            return self._at(posixpath.join(folder_of(path), module))
        if module.startswith(_SOURCES):
            above = [
                posixpath.join(folder, inner)
                for folder in folders_above(path)
                for inner in ("src", "")
            ]
            return next(
                (
                    found
                    for folder in above
                    if (found := self._at(posixpath.join(folder, module[2:]))) is not None
                ),
                None,
            )
        return None

    def _at(self, stem: str) -> str | None:
        root, ending = posixpath.splitext(stem)
        written = [root + other for other in _WRITTEN_FOR.get(ending, ())]
        inside = [posixpath.join(stem, f"index{other}") for other in ENDINGS]
        return self._tree.first([stem, *written, *(stem + other for other in ENDINGS), *inside])


# Python: packages, relative imports, folders of sources, namespace packages.

PYTHON_ENDINGS = (".py", ".pyi")
SOURCE_FOLDERS = frozenset({"src", "lib", "python", "source", "packages"})
MAX_NAMESPACE_DEPTH = 6  # folders without an __init__ that may be packages all the same


class PythonModules:
    """The modules of a tree by their dotted names.

    The standard library comes before what only looks like it.
    """

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._meanings: dict[str, set[str]] = {}
        self._named: dict[str, list[tuple[bool, str, str]]] = defaultdict(list)
        for path in tree.paths:
            if path.endswith(PYTHON_ENDINGS):
                self._index(path)

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the modules and names that an import brings into a file."""
        if not said.names:
            found = self._module(path, said.module, 0)
            return (ImportedName(said.alias or said.module, found, ""),) if found else ()
        home = self._module(path, said.module, said.level)
        each = (self._name(path, said, home, name, local) for name, local in said.names)
        return tuple(bound for bound in each if bound is not None)

    def _name(
        self, path: str, said: Import, home: str | None, name: str, local: str
    ) -> ImportedName | None:
        """Return what one name of `from … import` is.

        A name of the module, or a module below it.
        """
        if name == STAR:
            return ImportedName(STAR, home, STAR) if home else None
        below = self._module(path, f"{said.module}.{name}".lstrip("."), said.level)
        if below is not None and below != path and not self._says(home, name):
            return ImportedName(local, below, "")
        return ImportedName(local, home, name) if home and home != path else None

    def _says(self, home: str | None, name: str) -> bool:
        """Tell whether a package gives a name a meaning other than the module below it."""
        if home is None:
            return False
        if home not in self._meanings:
            there = self._tree.files[home]
            taken = {local for each in there.imports if each.module for _, local in each.names}
            self._meanings[home] = taken | {each.qualified for each in there.definitions}
        return name in self._meanings[home]

    def _module(self, path: str, module: str, level: int) -> str | None:
        parts = [part for part in module.split(".") if part]
        if level:
            above = folders_above(path)
            base = above[min(level, len(above)) - 1]
            return self._file(posixpath.join(base, *parts))
        local = self._file(posixpath.join(folder_of(path), *parts)) if parts else None
        if local is not None and not self._is_package(folder_of(path)) and local != path:
            return local  # a script sees what lies beside it first
        return (
            self._absolute(path, ".".join(parts))
            if parts and parts[0] not in sys.stdlib_module_names
            else None
        )

    def _file(self, stem: str) -> str | None:
        endings = [f"{stem}{ending}" for ending in PYTHON_ENDINGS] + [
            f"{stem}/__init__{ending}" for ending in PYTHON_ENDINGS
        ]
        return self._tree.first(endings)

    def _is_package(self, folder: str) -> bool:
        return (
            self._tree.first(
                posixpath.join(folder, f"__init__{ending}") for ending in PYTHON_ENDINGS
            )
            is not None
        )

    def _absolute(self, path: str, module: str) -> str | None:
        """Return the file of a module name.

        A real package before a mere folder, the nearest of several.
        """
        above = set(folders_above(path))
        known = self._named.get(module, ())
        fit = [
            (not packaged, -shared_folders(file, path), file)
            for packaged, root, file in known
            if packaged or root in above or posixpath.basename(root) in SOURCE_FOLDERS
        ]
        if not fit and "." in module and len(known) == 1:
            return known[0][2]  # its empty __init__ may not have been imported
        return min(fit)[2] if fit else None

    def _index(self, path: str) -> None:
        """Enter a file under the names by which it may be imported.

        From its package's root, or from a folder above it.
        """
        folder, name = posixpath.split(path)
        stem = name.rsplit(".", 1)[0]
        parts = [] if stem == "__init__" else [stem]
        packaged = self._is_package(folder)
        while self._is_package(folder) and folder not in ("", "/"):
            folder, name = posixpath.split(folder)
            parts.insert(0, name)
        for _ in range(MAX_NAMESPACE_DEPTH):
            if parts:
                self._named[".".join(parts)].append((packaged, folder, path))
            if folder in ("", "/"):
                return
            packaged = False
            folder, name = posixpath.split(folder)
            parts.insert(0, name)


# Rust: modules follow the folders below a crate's root; a crate is the folder around its `src`.

_ROOTS = ("lib.rs", "main.rs")
_HEADS = ("mod.rs", *_ROOTS)  # files that speak for their folder


class RustModules:
    """Follows paths of modules; what is left over of a path is a name in the last module."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._scopes: dict[str, Scopes] = {}
        self._crates = {
            posixpath.basename(folder_of(folder_of(path))).replace("-", "_"): path
            for path in tree.paths
            if posixpath.basename(path) == "lib.rs"
        }

    def bound(self, path: str, said: Import) -> tuple[ImportedName, ...]:
        """Return the modules and names that a `use` or a `mod` brings into a file."""
        said = self._outside(path, said)
        if not said.names:
            found = self._follow(path, said.module.split("::"))
            return (
                (ImportedName(said.alias, found[0], ""),)
                if found and not found[1] and found[0] != path
                else ()
            )
        each = (
            self._name(path, [*filter(None, said.module.split("::")), name], local)
            for name, local in said.names
        )
        return tuple(bound for bound in each if bound is not None)

    def _outside(self, path: str, said: Import) -> Import:
        """Return an import as written outside inner modules, where `super` is the file itself."""
        if not said.module.startswith("super"):
            return said
        if path not in self._scopes:
            self._scopes[path] = Scopes(self._tree.files[path])
        definitions = self._tree.files[path].definitions
        around = sum(
            definitions[index].kind is DefinitionKind.MODULE
            for index in self._scopes[path].around(said.start)
        )
        parts = said.module.split("::")
        inner = min(
            around, next((at for at, part in enumerate(parts) if part != "super"), len(parts))
        )
        return said._replace(module="::".join(["self", *parts[inner:]])) if inner else said

    def _name(self, path: str, parts: list[str], local: str) -> ImportedName | None:
        star = parts[-1] == STAR
        found = self._follow(path, parts[:-1] if star else parts)
        if found is None or found[0] == path:
            return None
        file, rest = found
        if star:
            return ImportedName(STAR, file, STAR) if not rest else None
        return ImportedName(local, file, ".".join(rest))

    def _follow(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        """Return the file that a path of modules leads to, and the names that are left."""
        begun = self._begin(path, parts)
        if begun is None:
            return None
        file, rest = begun
        while rest and (below := self._below(file, rest[0])) is not None:
            file, rest = below, rest[1:]
        return file, rest

    def _begin(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        first, rest = parts[0], parts[1:]
        if first == "crate":
            root = self._root(path)
            return (root, rest) if root else None
        if first in ("self", "super"):
            return self._relative(path, parts)
        below = self._below(path, first)
        if below is not None:
            return below, rest
        return (self._crates[first], rest) if first in self._crates else None

    def _relative(self, path: str, parts: list[str]) -> tuple[str, list[str]] | None:
        file: str | None = path
        for at, part in enumerate(parts):
            if part not in ("self", "super") or file is None:
                return (file, parts[at:]) if file else None
            file = self._parent(file) if part == "super" else file
        return (file, []) if file else None

    def _root(self, path: str) -> str | None:
        return self._tree.first(
            posixpath.join(folder, name) for folder in folders_above(path) for name in _ROOTS
        )

    def _home(self, path: str) -> str:
        """Return the folder in which a file's modules lie."""
        stem, name = posixpath.splitext(path)[0], posixpath.basename(path)
        return folder_of(path) if name in _HEADS else stem

    def _below(self, path: str, name: str) -> str | None:
        home = self._home(path)
        return self._tree.first(
            (posixpath.join(home, f"{name}.rs"), posixpath.join(home, name, "mod.rs"))
        )

    def _parent(self, path: str) -> str | None:
        folder = folder_of(path)
        folder = folder_of(folder) if posixpath.basename(path) in _HEADS else folder
        return self._tree.first(
            [*(posixpath.join(folder, head) for head in _HEADS), f"{folder}.rs"]
        )


FAMILIES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "go": "go",
    "java": "java",
    "rust": "rust",
    "c": "c",
    "cpp": "c",
}
"""Languages whose files import and call one another."""


def resolvers(tree: SourceTree) -> dict[str, Resolver]:
    """Return for each family of languages what follows its imports through a tree."""
    return {
        "python": PythonModules(tree),
        "javascript": JavaScriptModules(tree),
        "go": GoPackages(tree),
        "java": JavaPackages(tree),
        "rust": RustModules(tree),
        "c": Includes(tree),
    }
