import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from client import Zygote, render_job
from sources import SQUARE, scene
from videos import boxes, frame_times_s, streams


@pytest.mark.parametrize("fps", [1, 24, 60])
def test_the_frame_rate_is_constant_and_the_length_right(zygote: Zygote, tmp_path: Path, fps: int) -> None:
    outcome = zygote.run(tmp_path, render_job(SQUARE, fps=fps))
    assert outcome.length == (2 * fps, 2.0)
    (video,) = streams(tmp_path / "video.mp4")
    assert (video["codec_name"], video["pix_fmt"]) == ("h264", "yuv420p")
    assert (video["width"], video["height"]) == (128, 72)
    assert video["r_frame_rate"] == video["avg_frame_rate"] == f"{fps}/1"
    assert (float(video["start_time"]), float(video["duration"])) == (0, 2)
    assert frame_times_s(tmp_path / "video.mp4") == pytest.approx([n / fps for n in range(2 * fps)], abs=1e-5)


def test_the_index_comes_first(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    names = boxes(tmp_path / "video.mp4")
    assert names.index(b"moov") < names.index(b"mdat")


def test_the_colour_space_is_tagged_correctly(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    (video,) = streams(tmp_path / "video.mp4")
    assert (video["color_space"], video["color_range"]) == ("bt470bg", "tv")


def test_the_same_scene_gives_the_same_bytes(zygote: Zygote, tmp_path: Path) -> None:
    videos = set()
    for _ in range(2):
        zygote.run(tmp_path, render_job(SQUARE))
        videos.add((tmp_path / "video.mp4").read_bytes())
    assert len(videos) == 1


@pytest.mark.parametrize(
    "body",
    [
        "self.add(Circle(color=WHITE, fill_opacity=1))",
        "pass",
        "self.next_section(skip_animations=True)\nself.wait(5)",
    ],
)
def test_a_scene_that_plays_nothing_becomes_a_video_of_one_second(
    zygote: Zygote, tmp_path: Path, body: str
) -> None:
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert outcome.length == (10, 1.0)
    (video,) = streams(tmp_path / "video.mp4")
    assert float(video["duration"]) == 1


def test_only_the_results_are_left(zygote: Zygote, tmp_path: Path) -> None:
    if "namespaces" not in zygote.ready["layers"]:
        pytest.skip("a job has no file system of its own here")
    code = scene("open('other', 'w').close()\nself.wait()")
    assert zygote.run(tmp_path, render_job(code)).result["type"] == "done"
    assert {path.name for path in tmp_path.iterdir()} == {"video.mp4", "thumbnail.jpg"}


def test_stages_and_progress_are_reported(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(SQUARE))
    stages = [report["stage"] for report in outcome.of_type("stage")]
    assert stages == ["loading", "rendering", "finishing"]
    progress = outcome.of_type("progress")
    assert progress[0] == {"type": "progress", "frames": 1, "seconds": 0.1}
    assert all(report["seconds"] == report["frames"] / 10 for report in progress)


def test_previews_are_small_pictures(zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(SQUARE, widthPx=854, heightPx=480)
    previews = zygote.run(tmp_path, job, encode={"previewIntervalMs": 1}).of_type("preview")
    assert len(previews) > 1
    for preview in previews:
        assert len(preview["jpeg"]) <= 65_536
        with Image.open(io.BytesIO(base64.b64decode(preview["jpeg"]))) as image:
            assert (image.format, image.size) == ("JPEG", (320, 180))


def test_portrait_is_eight_units_wide(portrait_zygote: Zygote, tmp_path: Path) -> None:
    body = """
        plane = NumberPlane()
        raise ValueError(config.frame_width, config.frame_height, plane.x_range[:2], plane.y_range[:2])
    """
    job = render_job(scene(body), widthPx=480, heightPx=854)
    error = portrait_zygote.run(tmp_path, job).error
    half = 128 / 18
    assert error.startswith(f"ValueError: (8.0, {128 / 9}, (-4.0, 4.0), ({-half}, {half}))")


def test_a_portrait_video_is_taller_than_wide(portrait_zygote: Zygote, tmp_path: Path) -> None:
    portrait_zygote.run(tmp_path, render_job(SQUARE, widthPx=72, heightPx=128))
    (video,) = streams(tmp_path / "video.mp4")
    assert (video["width"], video["height"]) == (72, 128)


PACKAGES = {
    "chemistry": (r"\usepackage{mhchem,chemfig}", r"\ce{H2O} \chemfig{A-B}"),
    "cursive": (r"\usepackage[T1]{fontenc}\usepackage{frcursive}", r"\cursive abc"),
    "drawings": (r"\usepackage{pgfplots}", r"\tikz \draw (0,0) circle (1);"),
    "icons": (r"\usepackage{fontawesome5}", r"\faIcon{github}"),
    "physics": (r"\usepackage{physics,siunitx}", r"$\dv{x}{t}$ \SI{3}{\metre\per\second}"),
    "vectors": (r"\usepackage{esvect}", r"$\vv{AB}$"),
}


@pytest.mark.parametrize(
    "expression",
    [
        "MathTex(r'e^{i\\pi} = -1')",
        "Tex(r'\\LaTeX')",
        "Tex('你好', tex_template=TexTemplateLibrary.ctex)",
        "Tex('abc', tex_template=TexFontTemplates.comfortaa)",
        *(
            f"Tex({text!r}, tex_template=TexTemplate(preamble={preamble!r}))"
            for preamble, text in PACKAGES.values()
        ),
        "Text('Ünï ✓')",
    ],
)
def test_formulas_and_text_are_rendered(zygote: Zygote, tmp_path: Path, expression: str) -> None:
    source = scene(
        f"self.add({expression})\nassert self.mobjects[0].get_family()[-1].has_points()\nself.wait()"
    )
    assert zygote.run(tmp_path, render_job(source)).result["type"] == "done"
