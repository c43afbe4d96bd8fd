"""Run `clew` commands in forks of one process that has loaded everything.

    python -m tests.fork_server SOCKET MODEL_FOLDER

A page of the guide has a dozen commands, and each would spend nearly all of its CPU time on starting Python and loading the
model. `write_command` makes a `clew` for PATH that hands its arguments, folder, environment and standard streams to the
server, and exits with the code of the fork. What runs until it is told to stop is started as a process of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

STREAMS = 3
PACKAGES = ("clew.engine", "clew.surface.cli", "clew.store.sqlite", "clew.models", "clew.recall", "clew.ingest")
LIBRARIES = ("rich.console", "rich.markup", "rich.progress", "rich.table", "rich.text", "yaml")
LEFT_OUT = ("clew.models.adapters",)  # they need libraries that may not be there
COMMAND = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1:2] in (["serve"], ["mcp"]):
    os.execv({python!r}, [{python!r}, "-m", "clew", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [b"."], [0, 1, 2])
server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
server.shutdown(socket.SHUT_WR)
sys.exit(int(server.recv(8) or b"70"))
"""


def write_command(folder: Path, address: Path) -> None:
    """Write an executable `clew` that asks the server at an address."""
    command = folder / "clew"
    command.write_text(COMMAND.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)


@contextmanager
def running(address: Path, model: Path) -> Iterator[None]:
    """Start a server, and end it."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "tests.fork_server", str(address), str(model)]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, cwd=root) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            server.terminate()


def serve(address: str, model: str) -> None:
    """Answer requests, each in a fork, until a signal comes."""
    load_everything(Path(model))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"ready\n")
        while True:
            connection, _ = listening.accept()
            reap_ended()
            if os.fork() == 0:
                listening.close()
                code = answer(connection)
                connection.sendall(str(code).encode())
                os._exit(code)
            connection.close()


def reap_ended() -> None:
    """Take leave of forks that have ended: they have told their codes themselves."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def load_everything(model: Path) -> None:
    """Load the modules of the commands, and the model, which runs on the thread that asks."""
    from clew.models import catalogue, onnx
    from clew.models.card import Card
    from clew.ports import EmbedRole

    for name in LIBRARIES:
        import_module(name)
    for name in PACKAGES:
        for found in walk_packages(import_module(name).__path__, f"{name}."):
            if not found.name.startswith(LEFT_OUT):
                import_module(found.name)
    load, loaded = onnx._Loaded, onnx._Loaded(catalogue.ARCTIC_EMBED_S, model)

    def find_loaded(card: Card, folder: Path) -> onnx._Loaded:
        return loaded if folder == model else load(card, folder)

    setattr(onnx, "_Loaded", find_loaded)  # noqa: B010 - mypy takes it for a type
    onnx.OnnxEmbedder(catalogue.ARCTIC_EMBED_S, lambda: model).embed(["first"], role=EmbedRole.QUERY)


def answer(connection: socket.socket) -> int:
    """Run the command of a request with its streams, and return its exit code."""
    _, descriptors, _, _ = socket.recv_fds(connection, 1, STREAMS)
    arguments, folder, environment = json.loads(b"".join(iter(lambda: connection.recv(65536), b"")))
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["clew", *arguments]
    return run()


def run() -> int:
    """Run the command line as a start of Python would, to the end of its threads."""
    from clew.surface.cli import main

    code: int | str | None = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return 0 if code is None else code if isinstance(code, int) else 1


if __name__ == "__main__":
    serve(*sys.argv[1:])
