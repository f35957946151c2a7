import math
from types import ModuleType

import pytest

from scene_renderer.replacing import add, replace


class _Base:
    def inherited(self) -> str:
        return "base"


class _Owner(_Base):
    def own(self) -> str:
        return "owner"


def _other(_: object) -> str:
    return "other"


def test_methods_and_functions_are_replaced() -> None:
    """Functions of a base class, too, for this class only."""
    owner = type("Owner", (_Owner,), {})
    replace(owner, own=_other, inherited=_other)
    assert (owner().own(), owner().inherited()) == ("other", "other")
    assert (_Owner().own(), _Base().inherited()) == ("owner", "base")
    module = ModuleType("module")
    vars(module)["function"] = math.sqrt
    replace(module, function=_other)
    assert module.function(1) == "other"


def test_a_function_has_the_names_of_the_one_that_it_replaces() -> None:
    """A scene may show them: a documented example plots all rate functions, with their names."""

    def part(_: object) -> str:
        raise AssertionError

    owner = type("Owner", (_Owner,), {})
    replace(owner, own=part)
    assert (part.__name__, part.__qualname__) == ("own", "_Owner.own")
    assert (part.__module__, part.__doc__) == (__name__, None)


@pytest.mark.parametrize("name", ["renamed", "__getstate__"])
def test_nothing_is_replaced_if_a_part_is_missing(name: str) -> None:
    """Those that all objects have count as missing."""
    with pytest.raises(
        RuntimeError, match=rf"_Owner has no {name} to replace\. .* install the test_replacing of"
    ):
        replace(_Owner, own=_other, **{name: _other})
    assert _Owner().own() == "owner"
    with pytest.raises(RuntimeError, match=r"^math has no cube to replace"):
        replace(math, cube=_other)


def test_only_what_is_missing_is_added() -> None:
    owner: type = type("Owner", (_Owner,), {})
    add(owner, further=_other, __getstate__=_other)
    assert owner().__getstate__() == "other"
    for name in ("own", "inherited", "further"):
        with pytest.raises(RuntimeError, match=f"Owner has a {name} already"):
            add(owner, **{name: _other})
