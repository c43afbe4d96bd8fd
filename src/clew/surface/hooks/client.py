"""`clew hooks run`: pass one hook event to the warm process and print its answer.

Imports nothing heavy.

An agent waits for this at every prompt. Whatever goes wrong, it prints nothing and exits with 0: a
hook must not stop an agent. The warm process (`daemon.py`) is started when nobody listens, and ends
by itself when idle.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import zlib
from contextlib import suppress

from clew import __version__

MOST_BYTES = 16 << 20  # of an event; tool answers can be large
WAIT_SECONDS = 3.0  # for an answer, the start of the warm process included
POLL_SECONDS = 0.02
VARIABLES = ("CLEW_STORE", "CLEW_CONFIG", "CLEW_SPACE", "CLEW_MODELS", "CLEW_OFFLINE", "HOME")
FOLDER_MODE = 0o700
STOP = b"stop"


def run(arguments: list[str]) -> int:
    """Answer the event on stdin.

    `arguments` are the agent and the options `--store`, `--config` and `--space`.
    """
    try:
        event = sys.stdin.buffer.read(MOST_BYTES + 1)
        if 0 < len(event) <= MOST_BYTES:
            answer = ask(event, arguments)
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()
    except Exception as error:
        if os.environ.get("CLEW_DEBUG"):
            sys.stderr.write(f"clew hooks: {type(error).__name__}: {error}\n")
    return 0


def ask(
    event: bytes, arguments: list[str], *, start: bool = True, wait_seconds: float = WAIT_SECONDS
) -> bytes:
    """Return the answer of the warm process for these arguments.

    Start the process if none listens.
    """
    until = time.monotonic() + wait_seconds
    identity = identity_of(arguments)
    address = address_of(identity)
    started = not start
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(max(POLL_SECONDS, until - time.monotonic()))
            try:
                connection.connect(address)
            except (FileNotFoundError, ConnectionRefusedError):
                if started and (not start or time.monotonic() > until):
                    return b""
            else:
                connection.sendall(identity.encode("utf-8", "surrogateescape") + b"\n" + event)
                connection.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: connection.recv(1 << 16), b""))
        if not started:
            start_daemon(arguments)
            started = True
        time.sleep(POLL_SECONDS)


def identity_of(arguments: list[str]) -> str:
    """Return what one warm process serves.

    A version, its options and what of the environment chooses a store.
    """
    settings = sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name in VARIABLES or _is_setting(name)
    )
    return "\x1f".join((__version__, sys.executable, *arguments, *settings)).replace("\n", " ")


def _is_setting(name: str) -> bool:
    return name.startswith("CLEW_") and "__" in name


def address_of(identity: str) -> str:
    """Return the socket of the warm process; its folder belongs to this user alone."""
    return os.path.join(  # noqa: PTH118
        runtime_folder(),
        f"hooks-{zlib.crc32(identity.encode('utf-8', 'surrogateescape')):08x}.sock",
    )


def runtime_folder() -> str:
    """Return a folder for sockets that only this user can open; raise if somebody else made it."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = (
        os.path.join(base, "clew") if base and os.path.isdir(base) else f"/tmp/clew-{os.getuid()}"  # noqa: PTH112, PTH118, S108
    )
    with suppress(FileExistsError):
        os.mkdir(folder, FOLDER_MODE)  # noqa: PTH102
    found = os.lstat(folder)
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not found.st_mode & 0o040000:
        raise PermissionError(
            f"{folder} is not a private folder of this user. Remove it, or set XDG_RUNTIME_DIR."
        )
    return folder


def start_daemon(arguments: list[str]) -> None:
    """Start the warm process in a session of its own, without a terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    files = [(os.POSIX_SPAWN_DUP2, nothing, number) for number in (0, 1, 2)]
    command = [sys.executable, "-m", "clew.surface.hooks.daemon", *arguments]
    pid = os.posix_spawn(sys.executable, command, dict(os.environ), file_actions=files, setsid=True)
    os.close(nothing)
    del pid  # it outlives this process, which is over in a moment
