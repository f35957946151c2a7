from collections.abc import Iterator

import pytest

from layout.inspections import Inspector


@pytest.fixture(scope="session")
def inspector() -> Iterator[Inspector]:
    made = Inspector()
    yield made
    made.close()
