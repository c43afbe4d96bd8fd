"""Run the public MCP conformance suite against `clew serve`.

Python -m tests.surface.mcp.outside NODE SUITE.

NODE is a Node of at least version 22 and SUITE the installed package; `make conformance` gets both.
What is expected to fail is in expected_failures.yaml with the reason; anything else that fails, and
what unexpectedly passes, is an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXPECTED = Path(__file__).with_name("expected_failures.yaml")


def main(node: str, suite: str) -> int:
    """Serve a fresh store, run the suite and return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "CLEW_OFFLINE": "1",
            "CLEW_MODEL__EMBEDDER": "hashing",
            "CLEW_STORE": f"{folder}/memory.clew",
            "HOME": folder,
        }
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("CLEW_")
        } | given
        command = [sys.executable, "-m", f"{__package__}.diagnostics", "--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:
            try:
                assert server.stdout is not None
                url = json.loads(server.stdout.readline())["url"]
                script = str(Path(suite) / "dist" / "index.js")
                asked = [
                    node,
                    script,
                    "server",
                    "--url",
                    f"{url}/mcp",
                    "--expected-failures",
                    str(EXPECTED),
                    "-o",
                    f"{folder}/results",
                ]
                return subprocess.run(asked, check=False).returncode
            finally:
                server.terminate()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
