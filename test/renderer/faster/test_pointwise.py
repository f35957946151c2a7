"""Functions that are applied to points get the same calls, and give the same points, as in Manim."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest
from manim import ApplyWave, ComplexHomotopy, Homotopy, Mobject, PhaseFlow, VGroup, VMobject, rate_functions

from scene_renderer.faster import pointwise, waves
from scene_renderer.reading.sources import Sources

_ERRORS = (StopIteration, AssertionError, AttributeError, IndexError, OverflowError, TypeError, ValueError)
_ALPHAS = [0, 0.2, 1 / 3, np.float64(0.5), 1.0]


@pytest.fixture
def in_both_ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call a function with Manim's methods and with the replacements; return both results, or errors."""

    def call(function: Any) -> tuple[Any, Any]:
        def result() -> Any:
            with np.errstate(all="ignore"):
                try:
                    return function()
                except _ERRORS as error:
                    return f"{type(error).__name__}: {error}"

        expected = result()
        with monkeypatch.context() as patch:
            patch.setattr(Mobject, "apply_function", pointwise._apply_function)
            patch.setattr(Mobject, "apply_complex_function", pointwise._apply_complex_function)
            patch.setattr(VMobject, "scale_handle_to_anchor_distances", pointwise._scale_handles)
            patch.setattr(Homotopy, "function_at_time_t", pointwise._function_at_time_t)
            patch.setattr(PhaseFlow, "interpolate_mobject", pointwise._flow)
            return expected, result()

    return call


def _described(mobject: Mobject) -> list[Any]:
    return [
        (member.points.tobytes(), member.points.shape, member.points.dtype) for member in mobject.get_family()
    ]


class _Doubled(VMobject):
    """A class of a scene with a way of its own to apply functions."""

    def apply_function(self, function: Any, **options: Any) -> Any:
        return super().apply_function(lambda p: 2 * function(p), **options)


class _Ended(VMobject):
    """A class of a scene with ends of its own."""

    def get_anchors_and_handles(self) -> Any:
        first, *others = super().get_anchors_and_handles()
        return [first + 1, *others]


class _Array(np.ndarray[Any, Any]):
    """A class of a scene for points."""


def _mobjects() -> list[Mobject]:
    """Return mobjects of all kinds, with points that are odd in several ways."""
    chance = np.random.default_rng(3)
    odd = manim.Circle()
    odd.points[3] = [np.nan, np.inf, -0.0]
    nested = manim.Square().add(manim.Dot(manim.UP), VGroup(VMobject(), manim.Star()))
    turned = VMobject()
    turned.points = chance.normal(size=(8, 3))[::-1]
    return [
        VGroup(manim.Circle(), manim.Line(manim.LEFT, 3 * manim.RIGHT)),
        nested,
        odd,
        turned,
        VMobject(),
        VMobject().set_points(np.ones((3, 3))),
        VMobject().set_points(chance.normal(size=(7, 3))),
        VMobject().set_points([(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]),
        _Doubled().set_points(chance.normal(size=(8, 3))),
        _Ended().set_points(chance.normal(size=(8, 3))),
        manim.PMobject().add_points([manim.UP, manim.LEFT]),
    ]


def _functions() -> list[Any]:
    """Return functions with results of all kinds, each with something that is its own."""
    kept = np.zeros(3)

    def in_one_array(p: Any) -> Any:
        kept[:] = p + 1
        return kept

    def in_place(p: Any) -> Any:
        p *= 2
        return p

    some = [iter(range(5)) for _ in range(2)]

    def mixed(p: Any) -> Any:
        results = [(p[0], p[1], p[2]), [1, 2, 3], p, np.array([1, 2, 3]), (1, 2, 3)]
        return results[int(abs(np.nan_to_num(p[0])) * 7) % len(results)]

    return [
        lambda p: p,
        lambda p: p + 0.1 * np.sin(p[::-1]),
        lambda p: (p[0], p[1] ** 2, 0.5),
        lambda p: (p[0], 1, 2),
        lambda p: (1, 2, 3),
        lambda p: [p[1], p[0], p[2]],
        lambda p: p[0],
        lambda p: p[:2],
        lambda p: (p[0], p[1]),
        lambda p: np.array([1, 2, 3]),
        lambda p: p.astype(np.float32),
        lambda p: np.array([p]),
        lambda p: p.view(_Array),
        lambda p: None,
        lambda p: (float(next(some[0])), 0.0, 0.0),
        lambda p: p * next(some[1]),
        in_one_array,
        in_place,
        mixed,
        manim.normalize,
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(_functions())))
def test_functions_are_applied_as_before(number: int, in_both_ways: Any) -> None:
    """With the same points, one after another, whatever they return."""

    def applied() -> list[Any]:
        found: list[Any] = []
        function = _functions()[number]

        def noted(p: Any) -> Any:
            found.append((type(p), p.tobytes(), p.flags.writeable))
            return function(p)

        for mobject in _mobjects():
            try:
                mobject.apply_function(noted)
                mobject.apply_function(noted, about_edge=manim.LEFT)
            except _ERRORS as error:
                found.append(f"{type(error).__name__}: {error}")
            found += _described(mobject)
        return found

    expected, found = in_both_ways(applied)
    assert found == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "function",
    [
        lambda z: np.exp(z * 1j),
        lambda z: z**2 + 1,
        lambda z: z.real,
        lambda z: int(abs(z)) if abs(z) < 9 else 1,
        lambda z: 1 / (z - 1) if z != 1 else 0j,
        lambda z: np.complex64(z),
        lambda z: "none",
    ],
)
def test_functions_of_complex_numbers_are_applied_as_before(function: Any, in_both_ways: Any) -> None:
    def applied() -> list[Any]:
        found: list[Any] = []

        def noted(z: Any) -> Any:
            found.append((type(z), repr(z)))
            return function(z)

        for mobject in _mobjects()[:7]:
            try:
                mobject.apply_complex_function(noted)
            except _ERRORS as error:
                found.append(f"{type(error).__name__}: {error}")
            found += _described(mobject)
        animation = ComplexHomotopy(lambda z, t: function(z) * t, manim.Square().shift(manim.RIGHT * 3))
        try:
            found += _played(animation)
        except _ERRORS as error:
            found.append(str(error))
        return found

    expected, found = in_both_ways(applied)
    assert found == expected


def _played(animation: Any) -> list[Any]:
    animation.begin()
    found = []
    for alpha in _ALPHAS:
        animation.interpolate(alpha)
        found.append(_described(animation.mobject))
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "homotopy",
    [
        lambda x, y, z, t: (x, y + 0.2 * np.sin(x + t), z),
        lambda x, y, z, t: np.array([x * t, y, z]),
        lambda x, y, z, t: [x, y, t],
        lambda x, y, z, t: (0, 1, 2) if x > t else (x, y, z),
        lambda x, y, z, t: (x, y),
    ],
)
def test_homotopies_are_the_same(homotopy: Any, in_both_ways: Any) -> None:
    def played() -> list[Any]:
        found: list[Any] = []

        def noted(*arguments: Any) -> Any:
            found.append([(type(argument), repr(argument)) for argument in arguments])
            return homotopy(*arguments)

        for mobject in _mobjects():
            try:
                found += _played(Homotopy(noted, mobject, lag_ratio=0.2))
            except _ERRORS as error:
                found.append(f"{type(error).__name__}: {error}")
        return found

    expected, found = in_both_ways(played)
    assert found == expected


def test_homotopies_of_a_scene_own_kind_are_the_same(in_both_ways: Any) -> None:
    class Slanted(Homotopy):
        """Changes what the usual function of a time returns."""

        def function_at_time_t(self, t: float) -> Any:
            function = super().function_at_time_t(t)
            return lambda p: function(p) + t

    def played() -> list[Any]:
        return _played(Slanted(lambda x, y, z, t: (x, y * t, z), manim.Square()))

    expected, found = in_both_ways(played)
    assert found == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "function",
    [
        lambda p: np.array([p[1], -p[0], 0.0]),
        lambda p: p,
        lambda p: 2 * p[0],
        lambda p: np.array([0, 1, 2]),
        lambda p: (1, 2, 3),
        lambda p: np.array([0.1, 0.2, 0.3], dtype="f"),
    ],
)
def test_flows_are_the_same(function: Any, in_both_ways: Any) -> None:
    def played() -> list[Any]:
        found: list[Any] = []
        for rate_func in (manim.linear, manim.smooth, lambda t: np.float64(t)):
            for mobject in _mobjects()[:5]:
                try:
                    found += _played(PhaseFlow(function, mobject, virtual_time=1.5, rate_func=rate_func))
                except _ERRORS as error:
                    found.append(str(error))
        return found

    expected, found = in_both_ways(played)
    assert found == expected


_SETTINGS: dict[str, Any] = {
    "direction": [manim.UP, manim.RIGHT, [0.3, -0.2, 0.9], 2 * manim.DOWN],
    "amplitude": [0.2, 1, -0.5, 0],
    "wave_func": [
        *[manim.smooth, manim.smooth, manim.smooth, manim.linear, manim.there_and_back],
        *[rate_functions.ease_out_bounce, rate_functions.rush_into, lambda t: t**2, lambda t: np.array(t)],
        rate_functions.not_quite_there,  # fails
    ],
    "time_width": [1, 0.3, 2.5, np.float64(0.7), 0, -0.5],
    "ripples": [1, 1, 2, 3, 7, 0, 1.5, np.int64(2)],
    "rate_func": [manim.smooth, manim.linear],
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(80))
def test_waves_are_the_same(seed: int, in_both_ways: Any) -> None:
    """Over all that they can be given."""
    chance = random.Random(seed)
    settings = {name: chance.choice(values) for name, values in _SETTINGS.items() if chance.random() < 0.6}
    mobject = chance.choice([*_mobjects(), manim.Star(9), manim.Line(manim.UP, manim.DOWN)])

    def played() -> list[Any]:
        return _played(ApplyWave(mobject.copy(), **settings))

    expected, found = in_both_ways(played)
    assert found == expected


@pytest.mark.parametrize("is_exp_the_same", [waves._IS_EXP_THE_SAME, False])
def test_waves_over_many_points_are_the_same(
    is_exp_the_same: bool, in_both_ways: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At numbers near the ends of phases, too."""
    monkeypatch.setattr(waves, "_IS_EXP_THE_SAME", is_exp_the_same)
    ends = np.arange(0, 1.001, 1 / 24)
    numbers = np.concatenate([ends, np.nextafter(ends, -1), np.nextafter(ends, 2), np.linspace(-1, 2, 241)])
    points = np.zeros((len(numbers) // 4 * 4, 3))
    points[:, 0] = numbers[: len(points)] * 2 - 1

    def nudged() -> Any:
        found = []
        for ripples in (1, 2, 3, 6):
            wave: Any = ApplyWave(manim.Square(), ripples=ripples)
            for t in (0.1, 0.5, 0.77):
                dot = Mobject()
                dot.points = points.copy()
                dot.apply_function(wave.function_at_time_t(t))
                found.append(dot.points.tobytes())
        return found

    expected, found = in_both_ways(nudged)
    assert found == expected


def test_waves_are_known() -> None:
    """They are computed at once, and others are not."""
    wave: Any = ApplyWave(manim.Square())
    points = manim.Square().points
    assert waves.nudged(wave.homotopy, points, 0.5) is not None
    assert waves.nudged(wave.homotopy, points * np.nan, 0.5) is None
    assert waves.nudged(lambda x, y, z, t: (x, y, z), points, 0.5) is None


def test_readers_of_sources_know_how_functions_are_called() -> None:
    """As from Manim's source: with one number."""
    sources = Sources()
    sources.read(Path(pointwise.__file__))
    code = pointwise._apply_complex_function.__code__
    assert sources.callbacks[code.co_filename, code.co_firstlineno] == {"function": 1}


@pytest.mark.deep
def test_waves_are_the_same_on_other_processors() -> None:
    """Without the instructions that NumPy chooses at run time."""
    features = np._core._multiarray_umath.__cpu_dispatch__  # type: ignore[attr-defined] # no public name
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(Path(__file__)), "-k", "waves and not processors"],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(features)},
        cwd=Path(pointwise.__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout
