from collections.abc import Iterator

import manim
import pytest

from client import Zygote
from depth import pytest_collection_modifyitems as pytest_collection_modifyitems


@pytest.fixture(scope="session", autouse=True)
def _media_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have Manim write files of mobjects that tests make themselves to a temporary folder."""
    manim.config.media_dir = str(tmp_path_factory.mktemp("media"))


@pytest.fixture(scope="session")
def _landscape() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    assert zygote.close() == 0


@pytest.fixture
def zygote(_landscape: Zygote) -> Iterator[Zygote]:
    """A zygote shared by all tests; no scene may end it."""
    yield _landscape
    assert _landscape.process.poll() is None
    _landscape.await_idle()


@pytest.fixture(scope="session")
def portrait_zygote() -> Iterator[Zygote]:
    zygote = Zygote("--portrait")
    yield zygote
    assert zygote.close() == 0


@pytest.fixture(scope="session")
def exposed_zygote() -> Iterator[Zygote]:
    """A zygote without namespaces, whose jobs share the disk and the process ids of others."""
    zygote = Zygote("--without=namespaces")
    yield zygote
    assert zygote.close() == 0


@pytest.fixture(params=["isolated", "exposed"])
def any_zygote(request: pytest.FixtureRequest) -> Zygote:
    """A zygote of each kind; if namespaces are not available, both are without."""
    found: Zygote = request.getfixturevalue("zygote" if request.param == "isolated" else "exposed_zygote")
    return found


@pytest.fixture
def encoder(_landscape: Zygote) -> Iterator[Zygote]:
    """The zygote of encodings that the shared one uses; nothing that a render sends may end it."""
    encoder = _landscape.encoder
    yield encoder
    assert encoder.process.poll() is None
    encoder.await_idle()
