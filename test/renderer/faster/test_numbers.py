"""Numbers that change equal Manim's."""

import random
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest
from manim import DecimalNumber
from manim.mobject.text import numbers as manims

from scene_renderer.faster import numbers


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for Manim's files of digits."""
    return tmp_path_factory.mktemp("media")


@pytest.fixture
def in_both_ways(media: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call a function with Manim's method and then with the replaced one; each has no digits at first."""
    monkeypatch.chdir(media)

    def call(function: Any) -> tuple[Any, Any]:
        results = []
        for method in (numbers._manims_own, numbers._string_to_mob):
            monkeypatch.setattr(DecimalNumber, "_string_to_mob", method)
            monkeypatch.setattr(manims, "string_to_mob_map", {})
            monkeypatch.setattr(numbers, "string_to_mob_map", manims.string_to_mob_map)
            results.append(function())
        return results[0], results[1]

    return call


def _described(number: DecimalNumber) -> list[Any]:
    return [
        (type(member), member.points.tolist(), repr(member.get_style())) for member in number.get_family()
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"font_size": 21.5, "include_sign": True, "unit": "^2"},
        {"show_ellipsis": True, "color": manim.RED, "num_decimal_places": 1},
    ],
)
def test_a_number_equals_manims(options: Any, in_both_ways: Any) -> None:
    def numbers_of_a_scene() -> list[Any]:
        chance = random.Random(1)
        first = DecimalNumber(1.5, **options)
        second = DecimalNumber(2, **(options | {"font_size": 96})).scale(2).shift(manim.UP)
        described = []
        for value in (3.25, -2.5, 1000.125, 0):
            for number in (first, second):
                number.set_value(value)
                described.append(_described(number))
            first.set_color(chance.choice([manim.RED, manim.BLUE])).rotate(0.1)
        return described

    manims_numbers, ours = in_both_ways(numbers_of_a_scene)
    assert ours == manims_numbers


def test_digits_of_a_scene_own_kind_are_made_by_manim(in_both_ways: Any) -> None:
    class Growing(manim.MathTex):
        """Each copy is made larger than the one before."""

        grown = 0

        @property
        def font_size(self) -> Any:
            return super().font_size

        @font_size.setter
        def font_size(self, value: Any) -> None:
            type(self).grown += 1
            self.scale(self.grown)

    def heights() -> list[float]:
        Growing.grown = 0
        return [DecimalNumber(1, mob_class=Growing).height for _ in range(3)]

    manims_heights, ours = in_both_ways(heights)
    assert ours == manims_heights
    assert len(set(np.round(ours, 6))) == len(ours)


def test_few_digits_are_kept(in_both_ways: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "_MOST", 3)

    def widths() -> list[float]:
        return [DecimalNumber(7, font_size=size).width for size in (10, 20, 30, 40, 10)]

    manims_widths, ours = in_both_ways(widths)
    assert ours == manims_widths
    assert 0 < len(numbers._scaled) <= numbers._MOST
