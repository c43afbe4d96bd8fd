import pytest

pytest.register_assert_rewrite("clew.testing")
