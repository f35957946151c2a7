"""Examines the decoded pictures of a video: checks their size and time, and chooses the thumbnail."""

import os
from fractions import Fraction
from pathlib import Path

import av

from ..messages import InspectJob
from ..scene_error import SceneError, too_long
from ..video.thumbnail import BestFrame, to_jpeg

_WIDTH_PX = 640
_LOOKS_PER_SECOND = 4


class Viewer:
    """Sees all pictures of a video in their order."""

    def __init__(self, job: InspectJob) -> None:
        self.frames = 0
        self._job = job
        self._best = BestFrame(stride=max(1, round(job.fps / _LOOKS_PER_SECOND)))

    def view(self, frame: av.VideoFrame) -> None:
        """Check the next picture. Raises SceneError unless it has the requested size and time."""
        job = self._job
        if self.frames >= job.limits.frames:
            raise too_long(job.limits.frames)
        check_size(frame, job)  # it can change within the video
        if (
            frame.pts is None
            or not frame.time_base
            or frame.pts * frame.time_base != Fraction(self.frames, job.fps)
        ):
            raise SceneError(f"The video doesn't show {job.fps} frames in each second.")
        self.frames += 1
        self._best.offer(frame)

    def check_number(self, expected: int) -> None:
        """Raise SceneError unless the video had this number of pictures, and at least one."""
        if self.frames == 0 or self.frames != expected:
            raise SceneError(
                f"The video is incomplete: {self.frames} of its {expected} frames could be decoded."
            )

    def write_thumbnail(self, path: Path) -> None:
        """Write the picture with the highest contrast, as JPEG."""
        assert self._best.frame is not None
        data = to_jpeg(self._best.frame, _WIDTH_PX)
        path.unlink(missing_ok=True)
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, new, 0o600), "wb") as file:
            file.write(data)


def check_size(picture: av.VideoFrame | av.VideoCodecContext, job: InspectJob) -> None:
    """Raise SceneError unless a picture has the requested size."""
    if (picture.width, picture.height) != (job.width_px, job.height_px):
        found = f"{picture.width} by {picture.height}"
        raise SceneError(f"The video is {found} pixels, but {job.width_px} by {job.height_px} was requested.")
