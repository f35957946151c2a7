"""Updaters are called as Manim calls them."""

import functools
import inspect
import random
from typing import Any

import manim
import numpy as np
import pytest
from manim import Animation, Mobject
from manim.utils import rate_functions

from scene_renderer.faster import interpolation, updates

_MANIMS_SUB_ALPHA = Animation.get_sub_alpha


class _Counter:
    """Methods and calls of an object as updaters."""

    def __init__(self, log: list[Any]) -> None:
        self._log = log

    def plain(self, mobject: Any) -> None:
        self._log.append(("plain", mobject.name))

    def timed(self, mobject: Any, dt: Any) -> None:
        self._log.append(("timed", mobject.name, dt))

    def __call__(self, mobject: Any, dt: Any) -> None:
        self._log.append(("call", mobject.name, dt))

    def with_self_called_dt(dt, mobject: Any) -> None:  # noqa: N805
        dt._log.append(("odd", mobject.name))


class _Twice(Mobject):
    """A class of a scene with an update of its own."""

    def update(self, dt: float = 0, recursive: bool = True) -> Any:
        super().update(dt / 2, recursive)
        return super().update(dt / 2, recursive=recursive)


def _updaters(log: list[Any]) -> list[Any]:
    def wrapped(mobject: Any, dt: Any) -> None:
        log.append(("wrapped", mobject.name, dt))

    @functools.wraps(wrapped)
    def wrapper(*args: Any) -> None:
        log.append(("wrapper", len(args)))
        wrapped(*args)

    def grow(mobject: Any) -> None:
        if len(log) < 200:
            log.append(("grow", mobject.name))
            mobject.submobjects.append(_named(Mobject(), f"{mobject.name}+"))
            mobject.updaters.append(counter.plain)

    def shrink(mobject: Any, *, dt: Any = None) -> None:
        log.append(("shrink", mobject.name))
        del mobject.updaters[:1]
        mobject.submobjects = mobject.submobjects[1:]

    def any_dt(mobject: Any, *dt: Any) -> None:
        log.append(("any", mobject.name, dt))

    counter = _Counter(log)
    return [
        lambda mobject: log.append((mobject.name,)),
        lambda mobject, dt: log.append((mobject.name, dt)),
        lambda mobject, time=3: log.append((mobject.name, time)),
        counter,
        counter.plain,
        counter.timed,
        counter.with_self_called_dt,
        functools.partial(lambda extra, mobject, dt: log.append((extra, mobject.name, dt)), 7),
        wrapper,
        any_dt,
        grow,
        lambda mobject: mobject.suspend_updating(recursive=False),
        shrink,
    ]


def _named(mobject: Any, name: str) -> Any:
    mobject.name = name
    return mobject


def _tree(seed: int, log: list[Any]) -> Any:
    chance = random.Random(seed)
    members = [
        _named(chance.choice([Mobject, Mobject, manim.VMobject, _Twice])(), f"m{number}")
        for number in range(chance.randint(1, 9))
    ]
    for number, member in enumerate(members[1:], start=1):
        members[chance.randrange(number)].submobjects.append(member)
    for member in members:
        member.updaters = chance.sample(_updaters(log), chance.choice([0, 0, 1, 3]))
        member.updating_suspended = chance.random() < 0.1
        if chance.random() < 0.1:
            member.submobjects = tuple(member.submobjects)
        if chance.random() < 0.1:
            member.update = lambda *arguments, name=member.name, **named: log.append((name, arguments, named))
    return members[0]


@pytest.mark.parametrize("seed", range(200))
def test_updaters_are_called_in_the_same_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same arguments, also while they change what is updated."""
    logs: list[list[Any]] = []
    for replaced in (False, True):
        if replaced:
            monkeypatch.setattr(Mobject, "update", updates._update)
        log: list[Any] = []
        logs.append(log)
        top = _tree(seed, log)
        for dt in (0, 0.1, np.float64(0.2)):
            try:
                top.update(dt)
                top.update(dt, recursive=False)
            except (AttributeError, TypeError) as error:
                log.append(str(error))
    expected, found = logs
    assert found == expected


def test_updates_return_the_mobject_and_pass_on_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mobject, "update", updates._update)
    mobject = Mobject().add(Mobject())
    assert mobject.update() is mobject
    mobject.submobjects[0].updaters.append(lambda mobject: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mobject.update(0.1)
    mobject.submobjects = [mobject]
    with pytest.raises(RecursionError):
        mobject.update(0.1)


def test_parameters_are_found_as_by_their_signature() -> None:
    log: list[Any] = []
    for updater in [*_updaters(log), Mobject.update, Mobject().update, print, lambda: 0, lambda **dt: 0]:
        try:
            expected = "dt" in inspect.signature(updater).parameters
        except ValueError:
            continue
        assert updates.takes_dt(updater) is expected


_RATES = [
    value for name in rate_functions.__all__ if inspect.isfunction(value := getattr(rate_functions, name))
]


@pytest.mark.parametrize("lag_ratio", [0, 0.0, 1, 0.2, np.float64(0.7), np.float32(0.1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_progress_of_mobjects_is_the_same_as_in_manim(lag_ratio: Any, reverse: bool) -> None:
    """Of all rate functions, and those of scenes that count their calls."""
    counted = iter(range(10**9))
    rates = [rate for rate in _RATES if "func" not in inspect.signature(rate).parameters]
    for rate in [*rates, rate_functions.not_quite_there(), lambda t: t / 2, manim.smooth]:
        animation: Any = Animation(
            Mobject(), lag_ratio=lag_ratio, rate_func=rate, reverse_rate_function=reverse
        )
        alpha: Any
        for alpha in (0, 0.0, 0.1, 1 / 3, np.float64(1 / 3), 1, 1.0, 1.5, -0.2, np.float32(0.5)) * 2:
            for index in range(3):
                expected = _MANIMS_SUB_ALPHA(animation, alpha, index, 3)
                found = interpolation._get_sub_alpha(animation, alpha, index, 3)
                assert type(found) is type(expected)
                assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    animation = Animation(Mobject(), rate_func=lambda t: next(counted))
    assert [interpolation._get_sub_alpha(animation, 0.5, 0, 2) for _ in range(3)] == [0, 1, 2]
