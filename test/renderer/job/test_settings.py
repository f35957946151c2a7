from pathlib import Path

import pytest

from client import MATERIAL, Zygote, render_job
from sources import scene
from videos import streams

TRAPS = [
    "config.pixel_width = 32; config.pixel_height = 32",
    "config.frame_rate = 3",
    "config.quality = 'fourk_quality'",
    "config['frame_size'] = (64, 64)",
    "config.format = 'gif'",
    "config.format = 'png'",
    "config.transparent = True",
    "config.dry_run = True",
    "config.write_to_movie = False; config.movie_file_extension = '.gif'; config.save_pngs = True",
    "config.write_all = True; config.scene_names = ['Other']; config.input_file = 'other.py'",
    "config.pixel_format = 'rgba'; config.video_encoder_options = {'crf': '51'}",
    "config.save_last_frame = True",
    "config.save_sections = True",
    "config.media_dir = '/nowhere'; config.video_dir = '/nowhere'; config.tex_dir = '/nowhere'",
    "config.output_file = '../../escaped'",
    "config.disable_caching = False",
    "config.from_animation_number = 1",
    "config.upto_animation_number = 0",
    "config.renderer = 'opengl'",
    "config['renderer'] = RendererType.OPENGL",
    "config.preview = True; config.enable_gui = True; config.live_preview = True",
    "config.video_codec = 'mpeg2video'",
    "config.progress_bar = 'display'; config.verbosity = 'DEBUG'; config.log_to_file = True",
    "config.update({'pixel_width': 32, 'frame_rate': 1, 'format': 'gif'})",
    "config.update(ManimConfig().digest_parser(config._parser))",
    f"config.digest_file('{MATERIAL}/other.cfg')",
    "tempconfig({'pixel_width': 32, 'quality': 'low_quality', 'dry_run': True}).__enter__()",
]
PLAYS = "self.play(Create(Square()))\nself.play(FadeIn(MathTex('x')))"


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("place", ["import", "construct"])
@pytest.mark.sampled(7)
def test_a_scene_cannot_change_output_options(zygote: Zygote, tmp_path: Path, trap: str, place: str) -> None:
    above = "from manim._config.utils import ManimConfig\n"
    at_import, in_construct = (trap, "") if place == "import" else ("", trap)
    source = scene(f"{in_construct}\n{PLAYS}", above=above + at_import)
    (MATERIAL / "other.cfg").write_text(
        "[CLI]\npixel_width = 32\nframe_rate = 3\nformat = gif\ndry_run = True\n"
    )
    outcome = zygote.run(tmp_path, render_job(source))
    assert outcome.length == (20, 2.0)
    (video,) = streams(tmp_path / "video.mp4")
    assert (video["width"], video["height"], video["avg_frame_rate"]) == (128, 72, "10/1")


def test_a_scene_can_change_other_options(zygote: Zygote, tmp_path: Path) -> None:
    above = "config.background_color = '#ff0000'\nconfig.frame_width = 4\nconfig.seed = 7\n"
    body = """
        import random
        raise ValueError(self.camera.frame_width, self.camera.pixel_array[0, 0].tolist(), random.random())
    """
    errors = {zygote.run(tmp_path, render_job(scene(body, above=above))).error for _ in range(2)}
    assert len(errors) == 1, "the seed set by the scene is used"
    assert errors.pop().startswith("ValueError: (4, [255, 0, 0, 255], 0.3238")
