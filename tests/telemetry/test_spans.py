"""Spans and metrics arrive where the settings say.

At a collector, on stderr, or with the program's own OpenTelemetry.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import clew
from clew.engine.telemetry.exporters import open_telemetry
from clew.engine.telemetry.spans import OpenTelemetry
from clew.errors import InputError, SettingError
from clew.settings import TelemetrySettings
from tests.conftest import Open
from tests.telemetry.collector import Collector, collecting
from tests.telemetry.conftest import TEXTS


def attributes(span: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def counted(collector: Collector, name: str) -> dict[tuple[str, ...], int]:
    return {
        tuple(sorted(attributes(point).values())): point.as_int
        for point in collector.metrics[name].sum.data_points
    }


@pytest.mark.usefixtures("collectors_are_waited_for")
def test_a_collector_gets_one_span_for_each_operation_and_the_metrics(open_clew: Open) -> None:
    with collecting() as collector:
        memory = open_clew(
            telemetry={"enabled": True, "exporter": "otlp", "endpoint": collector.address + "/"}
        )
        memory.remember_many([*TEXTS, "ok"])
        answer = memory.recall("staging port", recipe="fast", preset="recent")
        with pytest.raises(InputError):
            memory.recall("")
        memory.close()
    assert [span.name for span in collector.spans] == [
        "clew.remember_many",
        "clew.recall",
        "clew.recall",
    ]
    written, recalled, refused = map(attributes, collector.spans)
    assert {name: written[name] for name in ("clew.count.inserted", "clew.count.rejected")} == {
        "clew.count.inserted": 2,
        "clew.count.rejected": 1,
    }
    assert recalled["clew.recall_id"] == answer.id
    assert (recalled["clew.recipe"], recalled["clew.preset"], recalled["clew.returned"]) == (
        "fast",
        "recent",
        len(answer.hits),
    )
    for stage in answer.stats["stages"]:
        assert recalled[f"clew.stage.{stage['stage']}.milliseconds"] == stage["milliseconds"]
    span = collector.spans[1]
    assert (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6 >= answer.stats[
        "milliseconds"
    ]
    assert (refused["clew.error"], collector.spans[2].status.message) == (
        "input.invalid",
        "input.invalid",
    )
    assert collector.spans[2].status.code == StatusCode.ERROR.value
    assert counted(collector, "clew.recalls") == {("fast", "hits", "recent"): 1, ("error",): 1}
    assert counted(collector, "clew.writes") == {
        ("inserted", "remember_many"): 2,
        ("rejected", "remember_many"): 1,
    }
    assert counted(collector, "clew.embedding.calls") == {("passage",): 1, ("query",): 1}
    assert counted(collector, "clew.search.tokens_returned") == {(): answer.tokens_returned}
    for name in (
        "clew.search.duration",
        "clew.search.stage.duration",
        "clew.write.duration",
        "clew.embedding.duration",
    ):
        assert sum(point.count for point in collector.metrics[name].histogram.data_points) > 0
        assert 1.0 in collector.metrics[name].histogram.data_points[0].explicit_bounds


def test_a_collector_that_is_not_there_costs_no_answer(
    open_clew: Open, caplog: pytest.LogCaptureFixture
) -> None:
    with collecting() as collector:
        pass  # its port is closed now
    memory = open_clew(
        telemetry={"enabled": True, "exporter": "otlp", "endpoint": collector.address}
    )
    assert memory.remember(TEXTS[0]).id
    assert memory.recall("staging port").hits
    memory.close()
    # and it is told
    assert any(record.name.startswith("opentelemetry") for record in caplog.records)


def test_the_console_is_stderr(open_clew: Open, capsys: pytest.CaptureFixture[str]) -> None:
    memory = open_clew(telemetry={"enabled": True, "exporter": "console"})
    memory.recall("staging port")
    memory.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert '"clew.recall"' in err
    assert '"clew.recalls"' in err


def test_a_span_is_inside_the_program_s_own_and_what_it_set_up_is_used(open_clew: Open) -> None:
    spans, metrics = InMemorySpanExporter(), InMemoryMetricReader()
    tracing, metering = TracerProvider(), MeterProvider([metrics])
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    plain = open_clew()
    told = OpenTelemetry(tracing.get_tracer("test"), metering.get_meter("test"))
    memory = clew.Clew(
        store=plain.store,
        embedder=None,
        settings=plain.settings,
        clock=plain.now,
        owns_store=False,
        telemetry=told,
    )
    with tracing.get_tracer("program").start_as_current_span("around") as around:
        memory.recall("staging port")
    memory.close()
    inner = next(span for span in spans.get_finished_spans() if span.name == "clew.recall")
    assert inner.parent is not None
    assert inner.parent.span_id == around.get_span_context().span_id
    assert metrics.get_metrics_data() is not None
    tracing.shutdown()
    metering.shutdown()


def test_enabled_without_an_exporter_it_goes_to_whatever_there_is(open_clew: Open) -> None:
    memory = open_clew(telemetry={"enabled": True})
    assert isinstance(memory.watch.telemetry, OpenTelemetry)
    memory.remember(TEXTS[0])
    assert memory.recall("staging port").hits
    assert memory.stats()["ledger"]["telemetry_failure"] is None


@pytest.mark.parametrize(
    "endpoint",
    [
        "collector",
        "ftp://host",
        "http://",
        "http://[::1",
        "http://host:99999",
        "file:///etc/passwd",
    ],
)
def test_an_endpoint_that_cannot_be_one_is_named(open_clew: Open, endpoint: str) -> None:
    with pytest.raises(SettingError) as caught:
        open_clew(telemetry={"enabled": True, "exporter": "otlp", "endpoint": endpoint})
    assert caught.value.field == "telemetry.endpoint"


def test_without_the_extra_nothing_is_missed_until_it_is_enabled(
    open_clew: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "clew.engine.telemetry.spans", raising=False)
    # what Python does for a package that is not there
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert open_clew().recall("staging port").id
    assert open_telemetry(TelemetrySettings()) is None
    for exporter in ("none", "console", "otlp"):
        with pytest.raises(SettingError, match=r"clew\[telemetry\]"):
            open_clew(telemetry={"enabled": True, "exporter": exporter})
