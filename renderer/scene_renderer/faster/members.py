"""Finds mobjects among the many of a scene with fewer steps than Manim, in the same order.

Manim lists the families of all mobjects of a scene for each one that is added, removed or introduced.
"""

from collections.abc import Iterable
from itertools import chain
from operator import attrgetter
from typing import Any

from manim import Animation, AnimationGroup, Mobject, Scene

from ..replacing import replace

_manims_add = Scene.add_mobjects_from_animations
_inside = attrgetter("submobjects")
_is_introducer = Animation.is_introducer
_NAMES = {
    Mobject: ("get_family", "_iter_family", "__eq__", "__hash__"),
    Scene: ("add", "get_mobject_family_members", "get_restructured_mobject_list", "restructure_mobjects"),
}


def find_directly() -> None:
    """Replace the methods for Manim's and the scene's scenes and animations; after those of families."""
    replace(
        Scene,
        get_restructured_mobject_list=_get_restructured_mobject_list,
        add_mobjects_from_animations=_add_mobjects_from_animations,
    )
    replace(Animation, _setup_scene=_setup_scene)
    replace(AnimationGroup, _setup_scene=_setup_scene_of_group)
    _own.update(_methods())


def _methods() -> dict[type, dict[str, Any]]:
    return {owner: {name: getattr(owner, name) for name in names} for owner, names in _NAMES.items()}


_own = _methods()


def _are_plain(mobjects: Iterable[Any]) -> bool:
    """Whether families are listed as usual, and each mobject equals only itself."""
    kinds = set(map(type, mobjects))
    return all(getattr(kind, name, None) is own for kind in kinds for name, own in _own[Mobject].items())


def _is_plain(scene: Scene) -> bool:
    return all(getattr(getattr(scene, name), "__func__", None) is own for name, own in _own[Scene].items())


def _families(mobjects: list[Any]) -> list[Any] | None:
    """Return mobjects and those in them; None if they aren't plain."""
    if not _are_plain(mobjects):
        return None
    members = list(chain.from_iterable(mobject.get_family() for mobject in mobjects))
    return members if _are_plain(members) else None


def _get_restructured_mobject_list(
    self: Scene, mobjects: Iterable[Any], to_remove: Iterable[Any]
) -> list[Any]:
    """Return a list without what is to be removed, and with the others of a group in place of the group."""
    return _without(mobjects, set(to_remove))


def _without(mobjects: Iterable[Any], removed: set[Any]) -> list[Any]:
    left = [mobject for mobject in mobjects if mobject not in removed]
    are_plain = _are_plain(left)
    if are_plain and not any(map(_inside, left)):
        return left
    found = []
    for mobject in left:
        is_alone = are_plain and not mobject.submobjects
        inside = None if is_alone else removed.intersection(mobject.get_family())
        if inside:
            found += _without(mobject.submobjects, inside)
        else:
            found.append(mobject)
    return found


def _add_mobjects_from_animations(self: Scene, animations: list[Animation]) -> None:
    """Add what is animated and not yet shown."""
    animated = [animation.mobject for animation in animations if animation.mobject is not None]
    shown = _families(self.mobjects) if _is_plain(self) else None
    if shown is None or _families(animated) is None:
        _manims_add(self, animations)
        return
    known = set(shown)
    for animation in animations:
        mobject = animation.mobject
        if not animation.is_introducer() and mobject is not None and mobject not in known:
            self.add(mobject)
            known.update(mobject.get_family())


def _setup_scene(self: Animation, scene: Scene) -> None:
    """Add the mobject of an animation that introduces it."""
    if scene is not None and self.is_introducer() and not _is_shown(scene, self.mobject):
        scene.add(self.mobject)


def _is_shown(scene: Scene, mobject: Any) -> bool:
    mobjects = scene.mobjects
    if not (_is_plain(scene) and _are_plain(mobjects)):
        return mobject in scene.get_mobject_family_members()
    if mobject in mobjects:
        return True
    return any(map(_inside, mobjects)) and any(
        mobject in other.get_family() for other in mobjects if other.submobjects
    )


def _setup_scene_of_group(self: AnimationGroup, scene: Scene) -> None:
    """Add the mobjects of animations that introduce them."""
    if not _are_introduced(self.animations, scene):
        for animation in self.animations:
            animation._setup_scene(scene)


def _are_introduced(animations: list[Animation], scene: Scene) -> bool:
    """Add the mobjects of animations that introduce them; return False if they must be added one by one."""
    introduced = _introduced(animations)
    if introduced is None or scene is None or not _is_plain(scene) or scene.foreground_mobjects:
        return False
    shown, moving = _families(scene.mobjects), _families(scene.moving_mobjects)
    if shown is None or moving is None or _families(introduced) is None:
        return False
    known, others = set(shown), set(moving)
    new = []
    for mobject in introduced:
        if mobject not in known:
            family = mobject.get_family()
            if not (known.isdisjoint(family) and others.isdisjoint(family)):
                return False  # adding it takes something out of a group
            known.update(family)
            new.append(mobject)
    if new:
        scene.mobjects = scene.mobjects + new
        if scene.moving_mobjects:
            scene.moving_mobjects = scene.moving_mobjects + new
    return True


def _introduced(animations: list[Animation]) -> list[Any] | None:
    """Return what animations introduce, also those in groups; None if one adds mobjects in its own way."""
    found = []
    for animation in animations:
        kind = type(animation)
        inside: list[Any] | None = None
        if kind._setup_scene is _setup_scene and kind.is_introducer is _is_introducer:
            inside = [animation.mobject] * animation.is_introducer()
        elif kind._setup_scene is _setup_scene_of_group and isinstance(animation, AnimationGroup):
            inside = _introduced(animation.animations)
        if inside is None:
            return None
        found += inside
    return found
