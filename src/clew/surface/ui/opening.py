"""Open the page in the browser of whoever runs `clew ui`."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable


def open_browser(url: str, *, failed: Callable[[], None]) -> None:
    """Open an address in a thread, for some browsers return only when they are closed.

    `failed` is called where there is none.
    """

    def run() -> None:
        try:
            opened = webbrowser.open(url)
        except webbrowser.Error:
            opened = False
        if not opened:
            failed()

    threading.Thread(target=run, name="clew-browser", daemon=True).start()
