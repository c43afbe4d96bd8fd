"""What happened, and what did it cost? One record for each recall and each write.

As a span, as numbers, as a line of a log.

Off until it is configured (settings `telemetry` and `log`), and then without the text of a memory
or a question unless `telemetry.include_text` says so. Nothing leaves the machine unless an exporter
is named. OpenTelemetry is the extra `telemetry`; it is loaded only when it is enabled.
"""

from clew.engine.telemetry.operation import Operation, Telemetry, current_request_id, requested
from clew.engine.telemetry.watch import Ledger, Watch, watched

__all__ = [
    "Ledger",
    "Operation",
    "Telemetry",
    "Watch",
    "current_request_id",
    "requested",
    "watched",
]
