"""A sample of the comparisons of ``npm run fidelity``."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidelity.comparison import Comparison, Manim, Verdict, compare_all
from fidelity.corpus import PREAMBLE, Example, bench_scenes, documented, own_scenes
from fidelity.recording import digest
from fidelity.reference import options
from sources import scene
from videos import streams

OWN = [
    "Shapes",
    "Chance",
    "Zoomed",
    "Painted",
    "Sections",
    "Pictures",
    "Heard",
    "Timed",
    "Layered",
    "Typeset",
    "Bodies",
    "Watched",
    "Copied",
    "Smooth",
    "Mutable",
    "Cameras",
    "Traced",
    "Flowing",
]
DOCUMENTED = [
    "animation.animation:OverrideAnimationExample",
    "animation.creation:ShowIncreasingSubsetsScene",
    "animation.speedmodifier:SpeedModifierUpdaterExample2",
    "animation.transform:FadeTransformSubmobjects",
    "animation.transform_matching_parts:MatchingEquationParts",
    "mobject.geometry.boolean_ops:DifferenceExample",
    "mobject.graph:ChangeGraphLayout",
    "mobject.graphing.coordinate_systems:GetAreaExample",
    "mobject.table:CreateTableExample",
    "mobject.text.code_mobject:CodeFromString",
    "mobject.text.text_mobject:MultiLanguage",
    "mobject.three_d.three_dimensions:FillByValueExample",
    "mobject.types.image_mobject:ImageInterpolationEx",
    "mobject.vector_field:EndAnimation",
    "scene.moving_camera_scene:MovingCameraOnGraph",
    "scene.vector_space_scene:LinearTransformationSceneExample",
]
BENCH = ["basic:Zoom", "lessons:QuadraticFormula", "plots:Tangent", "shapes:Gradient", "space:Helix"]
SETTINGS = {
    # options of the scene
    "background_color": "config.background_color = '#224466'",
    "background_opacity": "config.background_opacity = 0.5",
    "frame_height": "config.frame_height = 4",
    "frame_width": "config['frame_width'] = 20",
    "frame_x_radius": "config.frame_x_radius = 5.0",
    "several": "config.update({'background_color': RED, 'frame_height': 6.0})",
    "tempconfig": "tempconfig({'frame_width': 9.0}).__enter__()",
    "seed": "config.seed = 5",
    "tex_template": r"config.tex_template = TexTemplate(preamble=r'\usepackage{amsmath}\def\x{\int}')",
    "defaults": "Square.set_default(color=PINK); Dot.set_default(radius=0.5)",
    # options of the service, with which Manim draws the same frames
    "transparent": "config.transparent = True",
    "gif": "config.format = 'gif'",
    "webm": "config.format = 'webm'",
    "media_dir": "config.media_dir = 'elsewhere'; config.save_sections = True",
    "caching": "config.disable_caching = False",
}
PORTRAIT = ["Words", "Graph", "Fixed", "Moving"]


def with_setting(setting: str) -> Example:
    body = r"""
        self.add(NumberPlane(), Dot(np.random.rand(3)), MathTex(r"\x" if r"\x" in SETTING else "0"))
        self.play(Rotate(Square(fill_opacity=0.5)), run_time=0.3)
        self.wait(0.2)
    """
    above = f"SETTING = {setting!r}\n{setting}\n"
    return Example(setting, "Demo", PREAMBLE + scene(body, above=above), size=(192, 108, 10))


def sample() -> dict[str, Example]:
    """Compare small pictures; a few also in the service's sizes, a few also in portrait."""
    own = {example.class_name: example for example in own_scenes()}
    bench = {example.name: example for example in bench_scenes()}
    found = {example.name: replace(example, size=(192, 108, 10)) for example in documented()}
    return {
        **{name: found[name] for name in DOCUMENTED},
        **{f"bench:{name}": replace(bench[f"bench:{name}"], size=(192, 108, 4)) for name in BENCH},
        **{name: replace(own[name], size=(192, 108, 10)) for name in OWN},
        **{f"{name}, low": own[name] for name in ("Shapes", "Solid")},
        **{f"config: {name}": with_setting(setting) for name, setting in SETTINGS.items()},
        **{f"{name}, portrait": replace(own[name], size=(90, 160, 7), portrait=True) for name in PORTRAIT},
    }


SAMPLE = sample()


@pytest.fixture(scope="module")
def compared(request: pytest.FixtureRequest) -> dict[str, Comparison]:
    """Compare the chosen examples, several at once."""
    tests = (item for item in request.session.items if isinstance(item, pytest.Function))
    cases = (test.callspec for test in tests if test.originalname == "test_frames_equal_manims")
    names = [str(case.params["name"]) for case in cases]
    return dict(zip(names, compare_all([SAMPLE[name] for name in names]), strict=True))


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.sampled(9, deep=6)
def test_frames_equal_manims(compared: dict[str, Comparison], name: str) -> None:
    comparison = compared[name]
    assert comparison.verdict is Verdict.EQUAL, comparison.reason
    assert comparison.frames > 0


@pytest.mark.deep
def test_differences_are_detected() -> None:
    drawn = "self.add(Square(color={}))\nself.wait(0.2)"
    bodies = {
        "here": drawn.format("GREEN if 'scene_renderer' in __import__('sys').modules else RED"),
        "anywhere": drawn.format("f'#{__import__(\"os\").getpid():06x}'"),
        "longer": "self.wait(1 if 'scene_renderer' in __import__('sys').modules else 2)",
        "never": "1 / 0",
    }
    examples = [
        Example(name, "Demo", PREAMBLE + scene(body), size=(64, 36, 10)) for name, body in bodies.items()
    ]
    here, anywhere, longer, never = compare_all(examples)
    assert (here.verdict, here.reason) == (Verdict.DIFFERENT, "2 of 2 frames, the first is number 0")
    assert anywhere.verdict is Verdict.MANIM_VARIES
    assert (longer.verdict, longer.reason) == (Verdict.DIFFERENT, "10 frames instead of 20")
    assert (never.verdict, never.reason) == (Verdict.BOTH_FAIL, "ZeroDivisionError: division by zero")


@pytest.mark.parametrize("name", ["Chance", "Moving", "Heard"])
@pytest.mark.sampled(3, deep=3)
@pytest.mark.deep
def test_the_reference_equals_the_output_of_the_command(tmp_path: Path, name: str) -> None:
    """Compare with pictures and a video of the command itself, without a listener."""
    (example,) = (replace(e, size=(192, 108, 10)) for e in own_scenes() if e.class_name == name)
    manim = Manim()
    recording = manim.render(example, tmp_path)
    manim.close()
    for form in ("png-sequence", "mp4"):
        command = [sys.executable, "-m", "manim", "render", *options(example.size), "--format", form]
        subprocess.run([*command, "scene.py", name], cwd=tmp_path, check=True, capture_output=True)
    pictures = sorted((tmp_path / "images").rglob("*.png"))
    # The command writes the picture of a static wait once.
    assert [digest(np.array(Image.open(path))) for path in pictures] == [name for name, _ in recording.frames]
    (video,) = (tmp_path / "videos").rglob(f"*p10/{name}.mp4")
    found = streams(video)
    assert int(found[0]["nb_frames"]) == len(recording.flat())
    assert len(found) == (1 if recording.sound is None else 2)
    assert video.with_suffix(".srt").exists() == bool(recording.captions)
