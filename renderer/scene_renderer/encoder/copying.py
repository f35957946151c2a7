"""Copies the packets of an earlier video for the pictures that are equal, and has the others encoded."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import av
import numpy as np

from .index import EarlierVideo
from .repeats import Copy, Packet, RepeatingEncoder

# Shorter runs are encoded: an empty picture equals many key frames, and copies of few frames with a key frame
# after each would make videos larger.
_FRAMES_MIN = 12
# Of the pictures that are held until so many are equal. Fewer are enough if they are larger.
_HELD_BYTES_MAX = 67_108_864

# Returns a picture, which is not made if it is not needed.
Picture: TypeAlias = Callable[[], av.VideoFrame]


@dataclass(frozen=True)
class _Frame:
    """`is_kept`: the picture does not change any more."""

    picture: Picture
    digest: bytes
    is_new: bool
    begins_play: bool
    is_kept: bool = False


class CopyingEncoder:
    """Shows pictures by copies of an earlier video's packets where a run of them is equal.

    A run begins at a key frame of the earlier video. `copied`: the number of copied frames so far.
    """

    def __init__(self, encoder: RepeatingEncoder, earlier: EarlierVideo) -> None:
        self.copied = 0
        self._encoder = encoder
        self._earlier = earlier
        # Frames of the earlier video, one of which the next frame has to equal. Before a run is copied, there
        # may be several, and the frames so far are held.
        self._next: list[int] = []
        self._held: list[_Frame] = []
        self._copied_until = 0  # a frame of the earlier video

    def show(
        self, picture: Picture, count: int, digest: bytes, *, is_new: bool, begins_play: bool
    ) -> Iterator[Packet]:
        """Show a picture for a number of frames, as `RepeatingEncoder.show`."""
        for number in range(count):
            is_first = number == 0
            yield from self._show(_Frame(picture, digest, is_new and is_first, begins_play and is_first))

    def finish(self) -> Iterator[Packet]:
        """Yield the remaining packets."""
        for frame in self._held:
            yield from self._encode(frame)
        yield from self._encoder.finish()

    def _show(self, frame: _Frame) -> Iterator[Packet]:
        frames = deque([frame])
        while frames:
            frame = frames.popleft()
            places = self._next or self._earlier.starts(frame.digest)
            is_copying = bool(self._next) and not self._held
            equal = [place for place in places if self._earlier.shows(place, frame.digest)]
            if is_copying and equal and (copy := self._earlier.packet(equal[0])):
                self._next = [equal[0] + 1]
                yield from self._copy(copy, self._next[0])
            elif is_copying:
                self._next = []
                frames.appendleft(frame)
            elif equal:
                self._next = [place + 1 for place in equal]
                self._held.append(self._kept(frame))
                if self._are_enough():
                    yield from self._copy_held()
            elif self._held:
                first, *others = self._held
                self._next, self._held = [], []
                yield from self._encode(first)
                frames.extendleft([frame, *reversed(others)])
            else:
                yield from self._encode(frame)

    def _kept(self, frame: _Frame) -> _Frame:
        """Return a frame with a picture that does not change any more."""
        if frame.is_kept:
            return frame
        is_same = bool(self._held) and not frame.is_new
        if is_same:
            return replace(frame, picture=self._held[-1].picture, is_kept=True)
        copy = _copied(frame.picture())
        return replace(frame, picture=lambda: copy, is_kept=True)

    def _are_enough(self) -> bool:
        picture = self._held[0].picture()
        size = sum(plane.buffer_size for plane in picture.planes)
        return len(self._held) >= min(_FRAMES_MIN, max(2, _HELD_BYTES_MAX // size))

    def _copy_held(self) -> Iterator[Packet]:
        """Show the held frames by copies, from the place that is next in the earlier video if it can be."""
        held, self._held = self._held, []
        starts = [end - len(held) for end in self._next]
        start = min(starts, key=lambda start: (start < self._copied_until, start))
        copies = [self._earlier.packet(place) for place in range(start, start + len(held))]
        self._next = [start + len(held)]
        for frame, copy in zip(held, copies, strict=True):
            if copy is None:
                self._next = []
                yield from self._encode(frame)
            else:
                yield from self._copy(copy, self._next[0])

    def _copy(self, copy: Copy, until: int) -> Iterator[Packet]:
        self.copied += 1
        self._copied_until = until
        yield from self._encoder.copy(copy)

    def _encode(self, frame: _Frame) -> Iterator[Packet]:
        yield from self._encoder.show(frame.picture(), 1, is_new=frame.is_new, begins_play=frame.begins_play)


def _copied(picture: av.VideoFrame) -> av.VideoFrame:
    copy = av.VideoFrame(picture.width, picture.height, picture.format.name)
    copy.time_base = picture.time_base
    for plane, copied in zip(picture.planes, copy.planes, strict=True):
        np.asarray(memoryview(copied))[:] = np.asarray(memoryview(plane))
    return copy
