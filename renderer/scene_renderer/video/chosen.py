"""The frames of a video that were chosen to become pictures, too."""

from collections.abc import Iterator, Sequence

from ..messages import PlayRange, StillPlace
from ..scene_error import SceneError


class Chosen:
    """Finds chosen frames, by their numbers, while the frames of a video are counted.

    `part`: the plays of the scene that the video has; None: all. Each method yields the numbers of the places
    that the last frame, which may be repeated, is at.
    """

    def __init__(self, places: Sequence[StillPlace], fps: int, part: PlayRange | None) -> None:
        self._places = [*enumerate(places)]
        self._fps = fps
        self._play = (part.first if part else 0) - 1  # the last one that has ended
        self._first_play = self._play + 1
        self._missing = dict(self._places)

    def after(self, first: int, end: int) -> Iterator[int]:
        """`first` and `end`: the frames that were added: the first one, and the one after the last."""
        for number, place in self._places:
            if place.at == "seconds" and first <= int(place.value * self._fps + 1e-9) < end:
                yield self._found(number)

    def end_play(self, frames: int) -> Iterator[int]:
        """`frames`: those of the play."""
        self._play += 1
        for number, place in self._places:
            if frames and place.at == "play" and place.value == self._play:
                yield self._found(number)

    def end(self, frames: int) -> Iterator[int]:
        """`frames`: those of the video. Raises SceneError if a chosen frame is not in it."""
        for number, place in self._places:
            if place.at == "last":
                yield self._found(number)
        for place in self._missing.values():
            raise SceneError(self._lacking(place, frames), kind="scene:value")

    def _found(self, number: int) -> int:
        self._missing.pop(number, None)
        return number

    def _lacking(self, place: StillPlace, frames: int) -> str:
        if place.at == "seconds":
            return f"The video has no frame at {place.value:g} s: it is {frames / self._fps:g} s long."
        if self._first_play <= place.value <= self._play:
            return f"The video has no frame of play {place.value:g}, which is skipped."
        plays = f"plays {self._first_play} to {self._play}" if self._play >= self._first_play else "no play"
        return f"The video has no play {place.value:g}: it has {plays} of the scene, counted from 0."
