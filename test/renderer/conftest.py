from collections.abc import Iterator

import pytest

from client import Zygote, children


@pytest.fixture(scope="session")
def _landscape() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    assert zygote.close() == 0


@pytest.fixture
def zygote(_landscape: Zygote) -> Iterator[Zygote]:
    """A zygote that every test shares: whatever a scene does, it has to survive."""
    yield _landscape
    assert _landscape.process.poll() is None
    assert children(_landscape.process.pid) == []


@pytest.fixture(scope="session")
def portrait_zygote() -> Iterator[Zygote]:
    zygote = Zygote("--portrait")
    yield zygote
    assert zygote.close() == 0


@pytest.fixture(scope="session")
def _inspector() -> Iterator[Zygote]:
    inspector = Zygote(kind="inspector")
    yield inspector
    assert inspector.close() == 0


@pytest.fixture
def inspector(_inspector: Zygote) -> Iterator[Zygote]:
    """What looks at renders: one for all tests, which no file must end."""
    yield _inspector
    assert _inspector.process.poll() is None
    assert children(_inspector.process.pid) == []
