"""Java: a class is known by its package and its name, wherever its file lies."""

from __future__ import annotations

from collections import defaultdict

from clew.ingest.codegraph.modules.tree import Bound, SourceTree, nearest
from clew.ingest.codegraph.values import STAR, Definition, DefinitionKind, Import

MOST_FILES = 200  # of one package that are seen through a star


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

    def bound(self, path: str, said: Import) -> tuple[Bound, ...]:
        """Return the classes that an import brings into a file, or the member of one."""
        name = said.names[0][0] if said.names else ""
        if name == STAR and said.module in self._packages:
            return self._seen(said.module, besides=path)
        whole = nearest(self._classes.get(f"{said.module}.{name}", ()), path)
        if whole is not None and whole != path:
            return (Bound(name, whole, name),)
        owner = nearest(self._classes.get(said.module, ()), path)
        return (Bound(name, owner, f"{said.module.rpartition('.')[2]}.{name}"),) if owner and owner != path else ()

    def _seen(self, package: str, *, besides: str) -> tuple[Bound, ...]:
        """Return the classes of a package that a star makes visible."""
        return tuple(Bound(name, path, name) for name, path in self._packages.get(package, ())[:MOST_FILES] if path != besides)
