"""Fetch the page's JavaScript libraries from npm and write them with their manifest.

`python -m tests.ui.vendor`.

Bare imports are rewritten to the files beside, because a policy without inline scripts leaves no
room for an import map. Nothing else of a file is changed; the manifest has the hash of the file in
the package and of the file that is served.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from clew.surface.ui import assets

FOLDER = assets.FOLDER / "vendor"
MANIFEST = FOLDER / "manifest.json"


class Library(NamedTuple):
    """One file of one npm package."""

    package: str
    version: str
    licence: str
    path: str
    name: str


LIBRARIES = (
    Library("preact", "11.2.0", "MIT", "dist/preact.mjs", "preact.js"),
    Library("preact", "11.2.0", "MIT", "hooks/dist/hooks.mjs", "hooks.js"),
    Library("htm", "3.1.1", "Apache-2.0", "dist/htm.module.js", "htm.js"),
    Library("d3-force", "3.0.1", "ISC", "dist/d3-force.min.mjs", "d3-force.js"),
    Library("d3-quadtree", "3.0.2", "ISC", "dist/d3-quadtree.min.mjs", "d3-quadtree.js"),
    Library("d3-timer", "3.0.2", "ISC", "dist/d3-timer.min.mjs", "d3-timer.js"),
    Library("d3-dispatch", "3.0.2", "ISC", "dist/d3-dispatch.min.mjs", "d3-dispatch.js"),
)
IMPORTS = {each.package: f"./{each.name}" for each in LIBRARIES if each.name != "hooks.js"}
BARE = re.compile(r'(\bfrom\s*)"([\w./-]+)"')


def rewritten(source: str) -> str:
    """Return a module whose imports name files; the comment that names a source map goes.

    >>> rewritten('import{h as t}from"preact";')
    'import{h as t}from"./preact.js";'
    """
    source = re.sub(r"\n?//# sourceMappingURL=\S+\s*$", "\n", source)
    return BARE.sub(lambda found: f'{found[1]}"{IMPORTS.get(found[2], found[2])}"', source)


def sha256(data: bytes) -> str:
    """Return the hash of a file as the manifest has it."""
    return hashlib.sha256(data).hexdigest()


def fetched(library: Library, folder: Path) -> Path:
    """Return the folder of an unpacked npm package."""
    target = folder / f"{library.package}-{library.version}"
    if not target.exists():
        npm = shutil.which("npm")
        assert npm, "npm is needed to fetch the libraries"
        spec = f"{library.package}@{library.version}"
        done = subprocess.run(
            [npm, "pack", "--silent", spec], cwd=folder, check=True, capture_output=True, text=True
        )
        with tarfile.open(folder / done.stdout.strip().splitlines()[-1]) as archive:
            archive.extractall(target, filter="data")
    return target / "package"


def main() -> None:
    """Write every library, its licence and the manifest."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            package = fetched(library, Path(folder))
            raw = (package / library.path).read_bytes()
            served = rewritten(raw.decode()).encode()
            (FOLDER / library.name).write_bytes(served)
            licence = FOLDER / f"{library.package}.LICENSE"
            licence.write_bytes((package / "LICENSE").read_bytes())
            entries.append(
                {
                    "file": library.name,
                    "package": library.package,
                    "version": library.version,
                    "licence": library.licence,
                    "licence_file": licence.name,
                    "path": library.path,
                    "package_sha256": sha256(raw),
                    "sha256": sha256(served),
                }
            )
    MANIFEST.write_text(json.dumps({"files": entries}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
