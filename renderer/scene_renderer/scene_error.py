"""Failures of a scene whose message its author gets."""

from .messages import SceneFault


class SceneError(Exception):
    """A failure whose message is shown to the scene's author."""

    def __init__(self, message: str, failed_by: SceneFault = "scene") -> None:
        super().__init__(message)
        self.failed_by: SceneFault = failed_by


def too_large(limit_bytes: int) -> SceneError:
    """Return the error for a video that exceeds the size limit."""
    message = f"The video is larger than the limit of {round(limit_bytes / (1 << 20))} MiB."
    return SceneError(message, "limit:output")


def too_long(limit: int) -> SceneError:
    """Return the error for a video that exceeds the limit of frames."""
    return SceneError(f"The video is longer than the limit of {limit} frames.", "limit:frames")
