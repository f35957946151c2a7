"""Arcs have the same points as in Manim."""

from typing import Any

import manim
import numpy as np
import pytest
from manim import Arc

from scene_renderer.faster import arcs


def _odd(**settings: Any) -> dict[str, Any]:
    return settings


_MADE: list[Any] = [
    lambda: manim.Dot(manim.UP),
    lambda: manim.Circle(radius=3),
    lambda: manim.Annulus(),
    lambda: Arc(start_angle=-0.0, angle=-0.0),
    lambda: Arc(start_angle=0.0, angle=0.0),
    lambda: Arc(start_angle=0, angle=0),
    lambda: Arc(start_angle=1, angle=np.float64(2), num_components=4),
    lambda: Arc(**_odd(start_angle=np.float32(1))),
    lambda: Arc(angle=float("inf")),
    lambda: Arc(num_components=2),
    lambda: Arc(num_components=1),
    lambda: Arc(num_components=0),
    lambda: Arc(**_odd(num_components=2.0)),
    lambda: Arc(dim=2),
    lambda: Arc(n_points_per_cubic_curve=3),
    lambda: _Turned(angle=2),
    lambda: manim.CurvedArrow(manim.LEFT, manim.RIGHT),
]


class _Turned(Arc):
    """A class of a scene with curves of its own."""

    def set_anchors_and_handles(self, *points: Any) -> Any:
        return super().set_anchors_and_handles(*(each[::-1] for each in points))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arcs_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all settings, also the second time, and after the first one has changed."""

    def points() -> list[Any]:
        found: list[Any] = []
        for make in _MADE * 2:
            try:
                arc = make()
            except (AssertionError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
                found.append(f"{type(error).__name__}: {error}")
                continue
            found += [(each.points.shape, each.points.tobytes()) for each in arc.get_family()]
            for each in arc.get_family():
                each.points += 1
        return found

    expected = points()
    monkeypatch.setattr(arcs, "_known", {})
    monkeypatch.setattr(Arc, "_set_pre_positioned_points", arcs._set_pre_positioned_points)
    assert points() == expected


def test_few_arcs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arcs, "_known", {})
    monkeypatch.setattr(arcs, "_ARCS_MAX", 2)
    monkeypatch.setattr(Arc, "_set_pre_positioned_points", arcs._set_pre_positioned_points)
    for angle in (1, 2, 3):
        Arc(angle=angle)
    assert len(arcs._known) == 2
