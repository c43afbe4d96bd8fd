"""Run Python programs in forks of one process that has loaded everything.

    python -m tests.fork_server SOCKET [MODEL_FOLDER]

A test of the command line or of a server would spend nearly all of its CPU time on starting Python
and importing libraries. `ForkedPython` takes the place of `subprocess.Popen([sys.executable,
...])`: the program runs in a process of its own, with its own streams, environment and signals.
`write_command` makes a `clew` for PATH that does the same for a shell.

What a start of Python itself shows, such as which modules a command imports, needs a real one.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import mkdtemp
from typing import Any

STREAMS = 3
PACKAGES = (
    "clew.engine",
    "clew.surface",
    "clew.store.sqlite",
    "clew.models",
    "clew.search",
    "clew.memories",
    "clew.documents",
)
LIBRARIES = (
    "rich.console",
    "rich.markup",
    "rich.progress",
    "rich.table",
    "rich.text",
    "yaml",
    "uvicorn",
    "anyio.to_thread",
)
LEFT_OUT = (
    "clew.models.library_adapters",
    "__main__",
)  # the first needs libraries that may not be there
COMMAND = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1:2] in {started}:
    os.execv({python!r}, [{python!r}, "-m", "clew", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [b"."], [0, 1, 2])
server.sendall(json.dumps([["-m", "clew", *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode())
server.shutdown(socket.SHUT_WR)
said = b"".join(iter(lambda: server.recv(64), b"")).split()
sys.exit(os.waitstatus_to_exitcode(int(said[1])) if len(said) == 2 else 70)
"""


# --- the side of the tests ---


def write_command(
    folder: Path, address: Path, *, started: Sequence[str] = ("serve", "mcp")
) -> Path:
    """Write an executable `clew` that asks the server at an address, but for commands that are started because they get signals."""
    command = folder / "clew"
    text = COMMAND.format(
        python=sys.executable, address=str(address), started=[[each] for each in started]
    )
    command.write_text(text, encoding="utf-8")
    command.chmod(0o755)
    return command


@contextmanager
def running(address: Path, model: Path | None = None) -> Iterator[None]:
    """Start a server, and end it."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    command = [
        sys.executable,
        "-m",
        "tests.fork_server",
        str(address),
        *([] if model is None else [str(model)]),
    ]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, cwd=root
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            server.terminate()


@cache
def shared_address() -> Path:
    """Return where the server of this process listens.

    It is started by the first test that needs it and ends with the process.
    """
    address = Path(mkdtemp(prefix="clew-forks-")) / "socket"
    server = running(address)
    server.__enter__()
    atexit.register(_end, server, address)
    return address


@cache
def shared_command() -> Path:
    """Return a `clew` for programs that start it themselves.

    A signal to it does not reach the fork.
    """
    address = shared_address()
    return write_command(address.parent, address, started=())


def _end(server: Any, address: Path) -> None:
    server.__exit__(None, None, None)
    shutil.rmtree(address.parent)


class ForkedPython(subprocess.Popen[Any]):
    """A Python process with these arguments (`-m clew ...` or `-c PROGRAM ...`), forked from the server instead of started."""

    def __init__(self, arguments: Sequence[str | bytes], **options: Any) -> None:
        super().__init__([os.fsdecode(each) for each in arguments], **options)

    def _execute_child(self, args: list[str], *options: Any) -> None:
        """Hand the program to the server, in place of a fork and an exec.

        The parameters are those of Python 3.11 and later.
        """
        folder, environment, pipes = options[4], options[5], options[9:15]
        streams = [
            number if pipe == -1 else pipe
            for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))
        ]
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(str(shared_address()))
        socket.send_fds(self._server, [b"."], streams)
        wanted = {
            os.fsdecode(name): os.fsdecode(value)
            for name, value in (os.environ if environment is None else environment).items()
        }
        self._server.sendall(json.dumps([args, str(folder or Path.cwd()), wanted]).encode())
        self._server.shutdown(socket.SHUT_WR)
        self._said = b""
        while b"\n" not in self._said:
            self._said += self._server.recv(64)
        self.pid = int(self._said.split(b"\n")[0])
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """Return the process id and the status of the fork once the server has told it."""
        while not (ended := self._said.count(b"\n") == STREAMS - 1):
            if flags == os.WNOHANG and not select.select([self._server], [], [], 0)[0]:
                break
            received = self._server.recv(64)
            assert received, "the fork server has ended"
            self._said += received
        if not ended:
            return 0, 0
        self._server.close()
        return self.pid, int(self._said.split(b"\n")[1])

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid == self.pid:
                        self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def run_forked(
    arguments: Sequence[str | bytes], *, input: Any = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run([sys.executable, *arguments], capture_output=True)` does."""
    pipe = subprocess.PIPE
    with ForkedPython(
        arguments, stdin=None if input is None else pipe, stdout=pipe, stderr=pipe, **options
    ) as child:
        out, errors = child.communicate(input)
    return subprocess.CompletedProcess(arguments, child.returncode, out, errors)


# --- the side of the server ---


def serve(address: str, model: str | None = None) -> None:
    """Run each request in a fork, and tell its process id and how it ended, until a signal comes."""
    load_everything(None if model is None else Path(model))
    gc.collect()
    gc.freeze()  # so that no collection in a fork copies all pages
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    started: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listening.fileno(), told], [], [])
            if told in ready:
                os.read(told, 4096)
                tell_ended(started)
            if listening.fileno() in ready:
                start(listening, [told, telling], started)


def start(listening: socket.socket, pipe: list[int], started: dict[int, socket.socket]) -> None:
    """Accept a request and run it in a fork."""
    connection, _ = listening.accept()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in (listening, *started.values()):
            other.close()
        for descriptor in pipe:
            os.close(descriptor)
        os._exit(answer(connection))
    started[pid] = connection
    with suppress(OSError):  # whoever asked has gone
        connection.sendall(b"%d\n" % pid)


def tell_ended(started: dict[int, socket.socket]) -> None:
    """Tell those who asked how their forks have ended."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with started.pop(ended[0]) as connection, suppress(OSError):
                connection.sendall(b"%d\n" % ended[1])


def load_everything(model: Path | None) -> None:
    """Load the modules of the commands and servers, and the model, which runs on the thread that asks."""
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    for name in PACKAGES:
        for found in walk_packages(import_module(name).__path__, f"{name}."):
            if not found.name.startswith(LEFT_OUT) and not found.name.endswith(LEFT_OUT):
                with suppress(ImportError):  # of an extra that is not installed
                    import_module(found.name)
    if model is not None:
        load_model(model)


def load_model(model: Path) -> None:
    """Load the default model once for all forks."""
    from clew.models import library as catalogue
    from clew.models import onnx
    from clew.models.card import Card
    from clew.ports import EmbedRole

    load, loaded = onnx._Loaded, onnx._Loaded(catalogue.ARCTIC_EMBED_S, model)

    def find_loaded(card: Card, folder: Path) -> onnx._Loaded:
        return loaded if folder == model else load(card, folder)

    setattr(onnx, "_Loaded", find_loaded)  # noqa: B010 - mypy takes it for a type
    onnx.OnnxEmbedder(catalogue.ARCTIC_EMBED_S, lambda: model).embed(
        ["first"], role=EmbedRole.QUERY
    )


def answer(connection: socket.socket) -> int:
    """Run the program of a request with its streams, and return its exit code."""
    _, descriptors, _, _ = socket.recv_fds(connection, 1, STREAMS)
    arguments, folder, environment = json.loads(b"".join(iter(lambda: connection.recv(65536), b"")))
    connection.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = os.fdopen(0, encoding=encoding, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.stderr = os.fdopen(
        2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False
    )
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    return run(arguments)


def run(arguments: list[str]) -> int:
    """Run a program as a start of Python would, to the end of its threads."""
    code: int | str | None = None
    try:
        execute(*arguments)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:  # as Python ends where its output cannot be written
        return 120
    sys.stderr.flush()
    return 0 if code is None else code if isinstance(code, int) else 1


def execute(option: str, program: str, *arguments: str) -> None:
    """Run `-m clew` or `-c PROGRAM`."""
    if (option, program) == ("-m", "clew"):
        from clew.surface.cli import main

        sys.argv = ["clew", *arguments]
        main()
    else:
        assert option == "-c"
        sys.argv = [option, *arguments]
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    serve(*sys.argv[1:])
