"""A counter of flushes to disk, put under a peer's process, so that nobody has to be believed about durability."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
static atomic_long count;
long bench_syncs(void) { return atomic_load(&count); }
#define COUNTED(name, parameters, arguments)                          \\
    int name parameters {                                             \\
        static int (*real) parameters;                                \\
        if (!real) real = (int (*) parameters) dlsym(RTLD_NEXT, #name); \\
        atomic_fetch_add(&count, 1);                                  \\
        return real arguments;                                        \\
    }
COUNTED(fsync, (int fd), (fd))
COUNTED(fdatasync, (int fd), (fd))
COUNTED(msync, (void *start, size_t length, int flags), (start, length, flags))
COUNTED(syncfs, (int fd), (fd))
"""


def counter(cache: Path) -> Path | None:
    """Return the library to preload, built on first use; None where there is no C compiler."""
    built = cache / "syncs.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not built.exists() and compiler:
        source = cache / "syncs.c"
        source.write_text(_SOURCE)
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"]
        subprocess.run(command, check=False, capture_output=True)
    return built if built.exists() else None
