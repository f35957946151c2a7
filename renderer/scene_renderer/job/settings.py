"""Manim's configuration, with the settings of the service made read-only.

A scene may change ``config`` when it is imported. Changes to the format and location of the output are
ignored: those settings keep the service's values.
"""

import sys
import warnings
from dataclasses import replace
from typing import Any

from manim import config
from manim._config.utils import ManimConfig

from ..messages import CheckJob, ListJob, LocalOutput, RenderJob

_FIXED: dict[str, Any] = {
    "format": "auto",
    "video_codec": "auto",
    "pixel_format": "auto",
    "video_encoder_options": {},
    "renderer": "cairo",
    "dry_run": False,
    "write_all": False,
    "save_last_frame": False,
    "save_sections": False,
    "preview": False,
    "live_preview": False,
    "show_in_file_browser": False,
    "enable_gui": False,
    "from_animation_number": 0,
    "upto_animation_number": -1,
    "disable_caching": True,
    "notify_outdated_version": False,
    "progress_bar": "none",
    "verbosity": "WARNING",
    "log_to_file": False,
    "output_file": "",
    "input_file": "scene.py",
    # Relative to the job's folder: TeX in paranoid mode writes to no absolute path.
    "media_dir": "media",
    "log_dir": "{media_dir}/logs",
    "video_dir": "{media_dir}/videos",
    "sections_dir": "{media_dir}/sections",
    "images_dir": "{media_dir}/images",
    "partial_movie_dir": "{media_dir}/parts",
    "tex_dir": "{media_dir}/Tex",
    "text_dir": "{media_dir}/texts",
}
_OURS = "the renderer sets it."
_INSTEAD = {
    **dict.fromkeys(
        ("pixel_width", "pixel_height", "frame_rate", "frame_size", "quality"), "the request sets it."
    ),
    "format": "use --format.",
    "save_last_frame": "use -s.",
    "save_sections": "use --save_sections.",
    "preview": "use -p.",
    "output_file": "use -o.",
    "media_dir": "use -o to name the output.",
    "renderer": "only Cairo renders here.",
    "from_animation_number": "use -n.",
    "upto_animation_number": "use -n.",
}
_SIZE = ("pixel_width", "pixel_height", "frame_rate", "frame_size", "quality")


_ignored: set[str] = set()


class SceneConfig(ManimConfig):
    """Manim's configuration as a scene sees it: assignments to fixed settings are ignored, with a warning."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED or name in _SIZE:
            if self._is_other(name, value):
                _ignored.add(name)
                message = f"config.{name} is ignored: {_INSTEAD.get(name, _OURS)}"
                warnings.warn(message, stacklevel=_author_level())
        else:
            super().__setattr__(name, value)

    def _is_other(self, name: str, value: Any) -> bool:
        try:
            return str(getattr(self, name)) != str(value)
        except (AttributeError, KeyError, ValueError):
            return True

    def __setitem__(self, key: str, val: Any) -> None:
        setattr(self, key, val)

    def update(self, obj: ManimConfig | dict[str, Any]) -> None:  # type: ignore[override] # as Manim's
        """Update the settings, except for the fixed ones."""
        if isinstance(obj, ManimConfig):
            fixed = {name: value for name, value in self._d.items() if name in _FIXED or name in _SIZE}
            super().update(obj)
            self._d.update(fixed)
        else:
            super().update(obj)


class LocalConfig(SceneConfig):
    """The configuration for ``scenepress render``, where a scene may also set the size of its video."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SIZE:
            ManimConfig.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)


def prepare() -> None:
    """Apply the settings that are the same for all jobs.

    Setting the renderer changes the bases of all classes of mobjects, even to the same renderer, and takes
    longer than all other settings together.
    """
    for name, value in _FIXED.items():
        setattr(config, name, value)


def fix(job: RenderJob | CheckJob | ListJob) -> None:
    """Apply the settings of the job to the prepared configuration, and protect all that are fixed."""
    sizes = {"pixel_width": job.width_px, "pixel_height": job.height_px, "frame_rate": job.fps}
    local = None if isinstance(job, ListJob) else job.local
    # Plays that the request skips are skipped in its output only; Manim skips all for a picture.
    is_output = isinstance(job, RenderJob) and job.still is None and job.inspect is None
    for name, value in (sizes | (_of_local(local) if local and is_output else {})).items():
        setattr(config, name, value)
    if local:
        _configure(local)
    if isinstance(job, RenderJob) and job.is_transparent:
        config.transparent = True
    if isinstance(job, RenderJob) and job.has_sections:
        config.save_sections = True
    if isinstance(job, RenderJob) and job.seed is not None:
        config.seed = job.seed
    # All modules of Manim refer to this object, so it can't be replaced.
    config.__class__ = LocalConfig if local else SceneConfig


def asks_for_opengl() -> bool:
    """Whether the scene has set Manim's other renderer, which was ignored."""
    return "renderer" in _ignored


def as_set_by_scene(job: RenderJob | CheckJob) -> RenderJob | CheckJob:
    """Return the job with the size that the imported scene has set, if it may.

    Of pictures that are inspected it may set the shape.
    """
    if job.local is None:
        return job
    is_check = isinstance(job, CheckJob) or job.inspect is not None
    is_transparent = isinstance(job, RenderJob) and job.is_transparent
    if not is_check and config.background_opacity < 1 and not (job.local.transparent or is_transparent):
        warnings.warn("The background is drawn opaque. For a transparent one use -t.", stacklevel=1)
    fps = max(1, round(config.frame_rate))
    if fps != config.frame_rate:
        warnings.warn(f"The frame rate {config.frame_rate:g} is rounded to {fps}.", stacklevel=1)
        ManimConfig.__setattr__(config, "frame_rate", fps)
    if isinstance(job, RenderJob) and job.inspect is not None:
        _shrink(max(job.width_px, job.height_px))
    return replace(job, width_px=config.pixel_width, height_px=config.pixel_height, fps=fps)


def _shrink(side_px: int) -> None:
    """Scale the size of the video down to the longer side of a picture."""
    scale = min(1.0, side_px / max(config.pixel_width, config.pixel_height))
    for name in ("pixel_width", "pixel_height"):
        ManimConfig.__setattr__(config, name, max(2, round(getattr(config, name) * scale)))


def _of_local(local: LocalOutput) -> dict[str, Any]:
    return {
        "transparent": local.transparent,
        # Manim makes no video of explicit format from a scene that plays nothing.
        "format": "auto" if local.format == "mp4" else local.format,
        "save_last_frame": local.format == "png",
        "save_sections": local.sections,
        "from_animation_number": local.first_play,
        "upto_animation_number": local.last_play,
    }


def _configure(local: LocalOutput) -> None:
    """Apply the settings of manim.cfg that don't concern files or formats."""
    for name, text in local.config.items():
        if name in ("frame_width", "frame_height", "background_opacity"):
            config[name] = float(text)
        elif name in ("seed", "zero_pad"):
            config[name] = int(text)
        elif name in ("background_color", "assets_dir", "tex_template_file", "verbosity"):
            config[name] = text


def _author_level() -> int:
    """Return the `stacklevel` of the author's frame for the caller's warning."""
    level, frame = 2, sys._getframe(2)
    while (name := frame.f_code.co_filename) == __file__ or "/manim/" in name:
        if frame.f_back is None:
            break
        level, frame = level + 1, frame.f_back
    return level
