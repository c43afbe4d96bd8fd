"""What a store must do, as tests: a store is done when it passes `StoreConformance`.

A third-party store uses it like this (pytest finds the inherited tests by the name of the
subclass):

    import pytest
    from clew.testing import StoreConformance

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            self.path = tmp_path / "store"
            store = MyStore(self.path)
            yield store
            store.close()

        def second_handle(self, store):   # optional: another handle on the same data
            return MyStore(self.path)

        def reopen(self, store):          # optional: close and open again
            store.close()
            return MyStore(self.path)

A store without a file leaves the two methods out; the tests that need them are skipped with a
reason. To see the values in a failing comparison, put
`pytest.register_assert_rewrite("clew.testing")` into a conftest.

`node`, `embedding`, `unit`, `where` and `FixedClock` build values for any other test.
pytest is imported only when a test is skipped, so this package needs no test dependency.
"""

from clew.testing.build import (
    DIMENSION,
    MODEL,
    NOW,
    FixedClock,
    added,
    codes,
    embedding,
    filled,
    later,
    node,
    raises,
    unit,
    where,
)
from clew.testing.conformance import StoreConformance

__all__ = [
    "DIMENSION",
    "MODEL",
    "NOW",
    "FixedClock",
    "StoreConformance",
    "added",
    "codes",
    "embedding",
    "filled",
    "later",
    "node",
    "raises",
    "unit",
    "where",
]
