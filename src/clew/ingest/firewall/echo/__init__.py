"""Is a text what Clew itself returned a moment ago? An agent that stores what it recalled would fill its memory with echoes."""

from clew.ingest.firewall.echo.hearing import Echo, echo_of
from clew.ingest.firewall.echo.judging import echoed, heard
from clew.ingest.firewall.echo.returned import Returned

__all__ = ["Echo", "Returned", "echo_of", "echoed", "heard"]
