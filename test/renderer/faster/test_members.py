"""Scenes have the same mobjects in the same order as with Manim's methods."""

import random
from typing import Any

import manim
import pytest
from manim import Animation, AnimationGroup, Group, LaggedStart, Mobject, Scene, Succession, VMobject

from scene_renderer.faster import members

_PLACES = {
    Scene: ("get_restructured_mobject_list", "add_mobjects_from_animations"),
    Animation: ("_setup_scene",),
    AnimationGroup: ("_setup_scene",),
}


@pytest.fixture
def in_both_ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call a function with Manim's methods and with the replacements."""
    monkeypatch.setattr(manim.config, "dry_run", True)

    def call(function: Any) -> tuple[Any, Any]:
        expected = function()
        with monkeypatch.context() as patch:
            for owner, names in _PLACES.items():
                for name in names:
                    patch.setattr(owner, name, owner.__dict__[name])
            members.find_directly()
            try:
                found = function()
            finally:
                patch.undo()
                members._own.update(members._methods())
        return expected, found

    return call


class _Same(VMobject):
    """A class of a scene whose mobjects all are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same)

    def __hash__(self) -> int:
        return 1


class _Closed(Group):
    """A class of a scene that hides what is in it."""

    def get_family(self, recurse: bool = True) -> list[Any]:
        return [self]


class _Noted(Scene):
    """A scene that adds twice."""

    def add(self, *mobjects: Any) -> Any:
        super().add(*mobjects)
        return super().add(*mobjects[:1])


class _Shown(manim.FadeIn):
    """An animation of a scene that is an introducer at times."""

    def is_introducer(self) -> bool:
        return bool(vars(self.mobject)["z_index"])


class _Late(manim.FadeIn):
    """An animation of a scene that adds at the back."""

    def _setup_scene(self, scene: Scene) -> None:
        mobject: Any = self.mobject
        scene.bring_to_back(mobject)


def _mobjects(chance: random.Random) -> list[Mobject]:
    odd = chance.random() < 0.2
    kinds: list[Any] = [VMobject] * 5 + [Group] * 3 + ([_Same, _Closed] if odd else [])
    made: list[Mobject] = [chance.choice(kinds)() for _ in range(12)]
    for number, mobject in enumerate(made):
        if number and chance.random() < 0.5:
            groups = [other for other in made[:number] if isinstance(other, Group)]
            if groups:
                chance.choice(groups).submobjects.append(mobject)
        mobject.z_index = chance.choice([0, 0, 1])
    return made


def _animation(chance: random.Random, mobjects: list[Mobject], depth: int = 0) -> Animation:
    if depth < 2 and chance.random() < 0.4:
        kind: Any = chance.choice([AnimationGroup, LaggedStart, LaggedStart, Succession])
        inside = [_animation(chance, mobjects, depth + 1) for _ in range(chance.randint(1, 6))]
        return kind(*inside)  # type: ignore[no-any-return] # any of them
    kinds: list[Any] = [manim.FadeIn] * 6 + [manim.FadeOut, manim.ApplyWave]
    kinds += [_Shown, _Late] * (chance.random() < 0.1)
    return chance.choice(kinds)(chance.choice(mobjects))  # type: ignore[no-any-return] # any of them


@pytest.mark.sampled(16, deep=2)
@pytest.mark.parametrize("seed", range(400))
def test_mobjects_of_scenes_are_the_same(seed: int, in_both_ways: Any) -> None:
    """In groups or not, added, removed and introduced in any order."""

    def lists() -> list[Any]:
        chance = random.Random(seed)
        scene = _Noted() if chance.random() < 0.1 else Scene()
        mobjects = _mobjects(chance)
        numbers = {id(mobject): number for number, mobject in enumerate(mobjects)}
        found: list[Any] = []
        for _ in range(12):
            some = chance.sample(mobjects, chance.randint(1, 5))
            scene.camera.use_z_index = chance.random() < 0.5
            step = chance.randrange(9)
            before = scene.mobjects
            was = list(before)
            if step < 2:
                scene.add(*some)
            elif step == 2:
                scene.remove(*some)
            elif step == 3 and chance.random() < 0.3:
                scene.add_foreground_mobjects(*some[:2])
            elif step == 4:
                scene.moving_mobjects = chance.choice([[], some, scene.get_mobject_family_members()])
            elif step == 5:
                scene.add_mobjects_from_animations([_animation(chance, mobjects, 2) for _ in range(5)])
            elif step == 6:
                found.append(
                    [numbers[id(each)] for each in scene.get_restructured_mobject_list(iter(some), was)]
                )
            else:
                LaggedStart(*[_animation(chance, mobjects) for _ in range(6)])._setup_scene(scene)
            # A list that was kept stays as it was, as far as Manim doesn't change it.
            found.append([len(before) - len(was), scene.mobjects is before])
            for name in ("mobjects", "foreground_mobjects", "moving_mobjects"):
                found.append([numbers.get(id(each), type(each)) for each in getattr(scene, name)])
        return found

    expected, found = in_both_ways(lists)
    assert found == expected


def test_animations_without_a_scene_add_nothing(in_both_ways: Any) -> None:
    fades: list[Any] = [manim.FadeIn(VMobject()), LaggedStart(manim.FadeIn(VMobject()))]
    expected, found = in_both_ways(lambda: [fade._setup_scene(None) for fade in fades])
    assert found == expected


def test_many_mobjects_are_introduced_together(in_both_ways: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a call for each."""
    dots = [VMobject() for _ in range(100)]
    fades = LaggedStart(*[AnimationGroup(manim.FadeIn(dot)) for dot in dots])

    def introduced() -> Any:
        scene = Scene()
        fades._setup_scene(scene)
        return scene.mobjects

    calls: list[Any] = []
    restructure = Scene.restructure_mobjects

    def count(self: Scene, *args: Any, **kwargs: Any) -> Scene:
        calls.append(args)
        return restructure(self, *args, **kwargs)

    monkeypatch.setattr(Scene, "restructure_mobjects", count)
    expected, found = in_both_ways(introduced)
    assert found == expected == dots
    assert len(calls) == 100
