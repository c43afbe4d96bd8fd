"""Reports of `clew eval` as they lie below the folders that the settings allow.

Named by number and path, so that no name escapes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.errors import ClewError, InputError, NotFoundError

if TYPE_CHECKING:
    from clew.evaluate.report.files import Report

RESULT = "result.json"
MOST_REPORTS = 200
MOST_FOLDERS = 5000
DEPTH = 3


class Reports:
    """The reports below some folders."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Take the folders as they are written; they are looked through anew for every request."""
        self._roots = tuple(Path(folder).expanduser() for folder in folders)

    @property
    def configured(self) -> bool:
        """Whether any folder may be looked through."""
        return bool(self._roots)

    def folders(self) -> dict[str, Path]:
        """Return the folder of each report by the name under which it is asked for."""
        found: dict[str, Path] = {}
        for number, root in enumerate(self._roots):
            for folder in _folders(root):
                if (folder / RESULT).is_file() and len(found) < MOST_REPORTS:
                    place = folder.relative_to(root).as_posix()
                    found[f"{number}" if place == "." else f"{number}/{place}"] = folder
        return found

    def summaries(self) -> list[dict[str, Any]]:
        """Return what each report is about and its best system.

        Of one that cannot be read why not.
        """
        return [_summary(name, folder) for name, folder in self.folders().items()]

    def report(self, name: str) -> dict[str, Any]:
        """Return one report with its table, without the single questions."""
        # Evaluation is for whoever looks at one
        from clew.evaluate.report.codec import plain  # noqa: PLC0415

        loaded = _load(self._folder(name))
        timings = None if loaded.timings is None else plain(loaded.timings)
        return {
            "name": name,
            **plain(loaded.result),
            "timings": timings,
            "samples": len(loaded.samples),
        }

    def questions(
        self, name: str, *, offset: int, limit: int, category: str | None
    ) -> dict[str, Any]:
        """Return what every system got on some of the questions."""
        from clew.evaluate.report.codec import plain  # noqa: PLC0415 - as above

        grouped: dict[str, list[dict[str, Any]]] = {}
        for sample in _load(self._folder(name)).samples:
            if category is None or sample.category == category:
                grouped.setdefault(sample.query_id, []).append(plain(sample))
        asked = [
            {"query_id": id, "category": found[0]["category"], "answers": found}
            for id, found in grouped.items()
        ]
        return {
            "name": name,
            "total": len(asked),
            "offset": offset,
            "questions": asked[offset : offset + limit],
        }

    def _folder(self, name: str) -> Path:
        folder = self.folders().get(name)
        if folder is None:
            raise NotFoundError(
                f"No report {name}. See /v1/evaluations, and the setting serve.report_roots.",
                id=name,
            )
        return folder


def _folders(root: Path) -> list[Path]:
    """Return a folder and those below it, not too deep, in order; links are not followed."""
    found, level = [], [root] if root.is_dir() else []
    for _ in range(DEPTH + 1):
        found += level
        level = [each for folder in level for each in _children(folder)][
            : max(0, MOST_FOLDERS - len(found))
        ]
    return found


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
    except OSError:
        return []


def _load(folder: Path) -> Report:
    from clew.evaluate.report.files import load  # noqa: PLC0415 - as above

    return load(folder)


def _summary(name: str, folder: Path) -> dict[str, Any]:
    from clew.evaluate.report.files import read_result  # noqa: PLC0415 - as above
    from clew.files import read_file  # noqa: PLC0415 - as above

    try:
        result = read_result(read_file(folder / RESULT, limit_bytes=100_000_000).decode()).result
    except (ClewError, OSError, ValueError) as error:
        message = error.message if isinstance(error, InputError) else str(error)
        return {"name": name, "error": message}
    known = {
        "dataset": result.dataset,
        "part": result.part,
        "level": result.level,
        "measure": result.measure,
    }
    rated = [(row.measures.get(result.measure), row.system) for row in result.rows if not row.error]
    best = max(
        ((value, system) for value, system in rated if value is not None), default=(None, None)
    )
    return {
        "name": name,
        **known,
        "questions": result.questions,
        "best": best[0],
        "system": best[1],
        "notes": list(result.notes),
    }
