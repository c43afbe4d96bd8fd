"""Source trees as documents: from a folder, a source distribution, or a commit of a git clone.

Nothing is executed or written.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Iterator
from glob import escape
from pathlib import Path, PurePosixPath

from clew.errors import InputError, clipped
from clew.evaluate.data import Document
from clew.evaluate.datasets.folder import LARGEST_FILE_BYTES, Folder
from clew.file_formats import detect
from clew.files import open_file, read_file

MAX_FILE_BYTES = (
    5_000_000  # longer sources are generated tables; none of the sets' gold files is near it
)


def documents(files: Iterator[tuple[str, bytes]], *, space: str) -> Iterator[Document]:
    """Yield source files as documents, known by their path.

    Bytes that are not UTF-8 become replacement signs.
    """
    for path, content in files:
        text = content.decode("utf-8", errors="replace")
        format = detect(PurePosixPath(path), b"")
        yield Document(
            id=f"{space}/{path}",
            text=text,
            title=path,
            space=space,
            format=format,
            keys={"file": path},
        )


class MissingTreeError(InputError):
    """The sources of a project are not in the folder."""


def find_tree(root: Path, repo: str, *, fetch: str) -> Path:
    """Return the one tree or archive of a project.

    `owner/name`, `owner__name`, `name` or `name-<version>`.
    """
    project = repo.rsplit("/", 1)[-1]
    named = [root / repo, root / repo.replace("/", "__"), root / project]
    versions = sorted(root.glob(f"{escape(project)}-*")) if root.is_dir() else []
    found = [path for path in named if path.is_dir()] or [
        path for path in versions if _is_version(path, project)
    ]
    if not found:
        way_out = f"clew eval fetch {fetch} FOLDER (in Python: fetch_sources) brings them; then give --option sources=FOLDER."
        raise MissingTreeError(
            "sources",
            str(root),
            f"holds no {project}/, {project}-<version>/ or {project}-<version>.tar.gz",
            way_out,
        )
    return found[0]


def _is_version(path: Path, project: str) -> bool:
    rest = path.name.removeprefix(f"{project}-")
    return re.match(r"\d", rest) is not None and (path.is_dir() or rest.endswith(".tar.gz"))


def tree(
    folder: Folder, root: Path, *, suffix: str | tuple[str, ...] = ".py"
) -> Iterator[tuple[str, bytes]]:
    """Yield the sources under a folder or in a source distribution, in order of path."""
    files = _packed(root) if root.name.endswith(".tar.gz") else _unpacked(root)
    for path, content in sorted(files, key=lambda file: file[0]):
        if path.endswith(suffix) and len(content) <= MAX_FILE_BYTES:
            yield path, folder.seen(content)


def _unpacked(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in root.rglob("*.*"):
        inside = path.relative_to(root)
        if (
            path.is_file()
            and not path.is_symlink()
            and not any(part.startswith(".") for part in inside.parts)
        ):
            yield inside.as_posix(), _content(path)


def _content(path: Path) -> bytes:
    try:
        return read_file(path, limit_bytes=LARGEST_FILE_BYTES)
    except OSError as error:
        raise InputError(
            "sources",
            str(path),
            f"cannot be read: {error.strerror}",
            "Make it readable, or take it away.",
        ) from error


def _packed(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files of a source distribution without its top folder.

    They are read, never written.
    """
    try:
        with open_file(archive) as packed, tarfile.open(fileobj=packed, mode="r:gz") as members:
            for member in members:
                file = (
                    members.extractfile(member)
                    if member.isreg() and member.size <= MAX_FILE_BYTES
                    else None
                )
                if file is not None:
                    yield "/".join(PurePosixPath(member.name).parts[1:]), file.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(
            str(archive), str(error), "cannot be read as a source distribution", "Fetch it again."
        ) from error


def commit(
    folder: Folder, clone: Path, name: str, *, suffix: str = ".py"
) -> Iterator[tuple[str, bytes]]:
    """Yield the sources of a commit of a git clone, in order of path, without touching its working tree."""
    if name.startswith("-"):
        raise InputError("base_commit", name, "is not a commit", "Use the hash of a commit.")
    listed = (
        _git(clone, "ls-tree", "-r", "-z", "--name-only", name)
        .decode("utf-8", errors="surrogateescape")
        .split("\0")
    )
    paths = sorted(path for path in listed if path.endswith(suffix) and "\n" not in path)
    asked = "".join(f"{name}:{path}\n" for path in paths).encode("utf-8", errors="surrogateescape")
    answer, at = _git(clone, "cat-file", "--batch", stdin=asked), 0
    for path in paths:
        header, at = answer[at : answer.index(b"\n", at)], answer.index(b"\n", at) + 1
        size = int(header.split()[-1])
        content, at = answer[at : at + size], at + size + 1
        if size <= MAX_FILE_BYTES:
            yield (
                path.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace"),
                folder.seen(content),
            )


def _git(clone: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    command = [
        "git",
        "-C",
        str(clone),
        *arguments,
    ]  # no shell, and a commit is no option: checked above
    try:
        return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout  # noqa: S603
    except FileNotFoundError as error:
        raise InputError(
            "sources",
            str(clone),
            "is a git clone and git is not installed",
            "Install git, or give checkouts.",
        ) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", errors="replace").strip()
        raise InputError(
            "sources",
            str(clone),
            f"git cannot read it: {clipped(said)}",
            "Fetch the commit into the clone, or give a checkout.",
        ) from error


def is_clone(path: Path) -> bool:
    """Tell a git clone, with or without a working tree, from a plain folder."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())
