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
def exposed_zygote() -> Iterator[Zygote]:
    """A zygote whose jobs share the disk and the process ids of others."""
    zygote = Zygote("--without=namespaces")
    yield zygote
    assert zygote.close() == 0


@pytest.fixture(params=["isolated", "exposed"])
def any_zygote(request: pytest.FixtureRequest) -> Zygote:
    """One of each kind; without namespaces, both are of the second."""
    found: Zygote = request.getfixturevalue("zygote" if request.param == "isolated" else "exposed_zygote")
    return found


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
