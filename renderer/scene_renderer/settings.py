"""Manim's configuration, with the settings of the service made read-only.

A scene may change ``config`` when it is imported. Changes to the format and location of the output are
ignored: those settings keep the service's values.
"""

from typing import Any

from manim import config
from manim._config.utils import ManimConfig

from .messages import ListJob, RenderJob

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
_SIZE = ("pixel_width", "pixel_height", "frame_rate", "frame_size", "quality")


class SceneConfig(ManimConfig):
    """Manim's configuration as a scene sees it: assignments to fixed settings are ignored."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _FIXED and name not in _SIZE:
            super().__setattr__(name, value)

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


def fix(job: RenderJob | ListJob) -> None:
    """Apply the settings of the job and the service to the global configuration, and protect them."""
    sizes = {"pixel_width": job.width_px, "pixel_height": job.height_px, "frame_rate": job.fps}
    for name, value in (_FIXED | sizes).items():
        setattr(config, name, value)
    # All modules of Manim refer to this object, so it can't be replaced.
    config.__class__ = SceneConfig
