"""The isolation property on a PostgreSQL store.

Other spaces in the same tables change nothing that a caller is told.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from clew.engine.auth import Grant
from tests.postgres_fixtures import Database
from tests.properties.test_isolation import CANARY, GRANTS, LIVES, transcript

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(grant=GRANTS, lives=LIVES)
def test_a_store_on_a_server_tells_as_little(
    postgres: Database, grant: Grant, lives: list[tuple[Any, ...]]
) -> None:
    told = []
    for alone in (True, False):
        postgres.empty()
        told.append(transcript(grant, lives, path=postgres.url, alone=alone))
    assert told[0] == told[1]
    assert CANARY not in "".join(told[1])
