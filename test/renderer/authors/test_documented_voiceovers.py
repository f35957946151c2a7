"""Scenes as the documentation of manim-voiceover and manim-slides shows them run unchanged, with given audio.

Each uses the features of one documented example, in words and shapes of its own.
"""

from pathlib import Path
from typing import Any

import pytest

from client import Zygote, check_job, render_job
from narrated import captioned, heard, write_bursts, write_narration

# Of each: the code of the scene `Demo`, and the texts for which there is audio.
_SCENES: dict[str, tuple[str, list[str]]] = {
    "gtts": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.gtts import GTTSService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(GTTSService(lang="en", tld="com"))
        ring = Circle()
        with self.voiceover(text="A ring is drawn while I speak."):
            self.play(Create(ring))
        with self.voiceover(text="Now it moves aside.") as tracker:
            self.play(ring.animate.shift(2 * LEFT), run_time=tracker.duration)
        with self.voiceover(text="Thank you for watching."):
            self.play(Uncreate(ring))
        self.wait()
""",
        ["A ring is drawn while I speak.", "Now it moves aside.", "Thank you for watching."],
    ),
    "azure": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.azure import AzureService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(AzureService(voice="en-US-AriaNeural", style="newscast", global_speed=1.15))
        square = Square()
        with self.voiceover(text="A square appears.", prosody={"rate": "-10%"}):
            self.play(GrowFromCenter(square))
        with self.voiceover(text="Here it becomes a triangle."):
            self.play(Transform(square, Triangle()))
""",
        ["A square appears.", "Here it becomes a triangle."],
    ),
    "bookmarks": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.azure import AzureService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(AzureService(voice="en-US-AriaNeural"))
        blob = Dot(radius=0.5)
        with self.voiceover(
            text="First <bookmark mark='LEFT'/>to the left, then <bookmark mark='RIGHT'/>to the right."
        ):
            self.wait_until_bookmark("LEFT")
            self.play(blob.animate.shift(LEFT), run_time=0.2)
            self.wait_until_bookmark("RIGHT")
            self.play(blob.animate.shift(2 * RIGHT), run_time=0.2)
""",
        ["First to the left, then to the right."],
    ),
    "time until a bookmark": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.recorder import RecorderService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(RecorderService(silence_threshold=-40.0))
        line = NumberLine(length=4)
        with self.voiceover(text='The line is drawn until <bookmark mark="drawn"/> here.') as tracker:
            self.play(Create(line), run_time=tracker.time_until_bookmark("drawn"))
            self.play(Indicate(line), run_time=tracker.get_remaining_duration())
""",
        ["The line is drawn until here."],
    ),
    "remaining duration": (
        """
from manim import *
from manim_voiceover import VoiceoverScene, VoiceoverTracker
from manim_voiceover.services.openai import OpenAIService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(OpenAIService(voice="fable", model="tts-1-hd", transcription_model="base"))
        tracker: VoiceoverTracker
        with self.voiceover(text="The rest of the sentence is for the last one.") as tracker:
            self.play(FadeIn(Square()), run_time=0.3)
            self.play(FadeIn(Circle()), run_time=tracker.get_remaining_duration(buff=-0.1))
""",
        ["The rest of the sentence is for the last one."],
    ),
    "coqui": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.coqui import CoquiService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(CoquiService(model_name="tts_models/en/ljspeech/tacotron2-DDC"))
        with self.voiceover("A text that is not named."):
            self.play(Write(Text("Hi")))
""",
        ["A text that is not named."],
    ),
    "elevenlabs": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.elevenlabs import ElevenLabsService

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(
            ElevenLabsService(voice_name="Adam", voice_settings={"stability": 0.1, "similarity_boost": 0.2})
        )
        star = Star()
        for angle, text in ((PI / 5, "A turn."), (-PI / 5, "And back.")):
            with self.voiceover(text=text):
                self.play(Rotate(star, angle))
""",
        ["A turn.", "And back."],
    ),
    "pyttsx3": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.pyttsx3 import PyTTSX3Service

class Demo(VoiceoverScene):
    def construct(self):
        self.set_speech_service(PyTTSX3Service(), create_subcaption=False)
        with self.voiceover(text="No captions are made of this.", subcaption="Nor of this."):
            self.wait(0.2)
""",
        ["No captions are made of this."],
    ),
    "a base class": (
        """
from manim import *
from manim_voiceover.services.base import SpeechService
from manim_voiceover.voiceover_scene import VoiceoverScene
from manim_voiceover.tracker import VoiceoverTracker

class Ours(SpeechService):
    def generate_from_text(self, text, cache_dir=None, path=None, **kwargs):
        raise NotImplementedError

class Lesson(VoiceoverScene):
    def setup(self):
        super().setup()
        self.set_speech_service(Ours(transcription_model="base"))

    def say(self, text) -> VoiceoverTracker:
        return self.add_voiceover_text(text)

class Demo(Lesson):
    def construct(self):
        tracker = self.say("Said by a method of ours.")
        self.play(Create(Square()), run_time=0.4)
        self.wait_for_voiceover()
        self.safe_wait(tracker.get_remaining_duration())
        self.safe_wait(0.001)
""",
        ["Said by a method of ours."],
    ),
    "three dimensions": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.gtts import GTTSService

class Demo(VoiceoverScene, ThreeDScene):
    def construct(self):
        self.set_speech_service(GTTSService())
        self.set_camera_orientation(phi=70 * DEGREES, theta=30 * DEGREES)
        self.begin_ambient_camera_rotation(rate=0.5)
        self.add(ThreeDAxes())
        with self.voiceover(text="The camera goes around the axes."):
            pass
        self.stop_ambient_camera_rotation()
""",
        ["The camera goes around the axes."],
    ),
    "translations": (
        """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.stitcher import SpeechStitcher
from manim_voiceover.translate import get_gettext

_ = get_gettext()

class Demo(VoiceoverScene, MovingCameraScene):
    def construct(self):
        self.set_speech_service(SpeechStitcher("talk.mp3", min_silence_len=2000, keep_silence=(0, 0)))
        with self.voiceover(text=_("A text that may be translated.")):
            self.play(self.camera.frame.animate.scale(0.5))
""",
        ["A text that may be translated."],
    ),
    "slides": (
        """
from manim import *
from manim_slides import Slide
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.gtts import GTTSService

class Demo(VoiceoverScene, Slide):
    def construct(self):
        self.set_speech_service(GTTSService())
        dot = Dot()
        with self.voiceover(text="On the first slide."):
            self.play(FadeIn(dot))
        self.next_slide(loop=True, notes="It goes round.")
        self.play(Rotate(dot, about_point=RIGHT))
        self.next_slide()
        with self.voiceover(text="On the third slide."):
            self.wipe(dot, [])
""",
        ["On the first slide.", "On the third slide."],
    ),
}
_SECONDS = 0.9


@pytest.mark.parametrize("name", _SCENES)
def test_a_documented_scene_runs_with_given_audio(zygote: Zygote, tmp_path: Path, name: str) -> None:
    code, texts = _SCENES[name]
    outcome = _run(zygote, tmp_path, render_job(code), texts)
    assert outcome.result["type"] == "done", outcome.result
    sounds = heard(tmp_path / "job/video.mp4")
    assert len(sounds) == len(texts)
    captions = tmp_path / "job/captions.vtt"
    if "create_subcaption=False" in code:
        assert not captions.exists()
        return
    found = captioned(captions)
    assert [text for _, _, text in found] == texts
    assert [begin for begin, _, _ in found] == pytest.approx(sounds, abs=0.04)


@pytest.mark.parametrize("name", _SCENES)
def test_without_audio_it_says_what_it_lacks(zygote: Zygote, tmp_path: Path, name: str) -> None:
    code, texts = _SCENES[name]
    found = _run(zygote, tmp_path, check_job(code), []).result["finding"]
    assert found["message"] == f"There is no audio for the text “{texts[0]}”, without a key."
    line = code.split("\n")[found["line"] - 1]
    assert "voiceover(" in line or "add_voiceover_text(" in line or "text=" in line


def _run(zygote: Zygote, path: Path, job: dict[str, Any], texts: list[str]) -> Any:
    path.chmod(0o755)
    files = path / "files"
    files.mkdir()
    entries = []
    for number, text in enumerate(texts):
        name = write_bursts(files / f"voices/{number}.wav", _SECONDS).relative_to(files)
        entries.append({"text": text, "file": str(name)})
    write_narration(files, *entries)
    (path / "job").mkdir()
    return zygote.run(path / "job", job, job_files=files)


_SLIDES = """
from manim import *
from manim_slides import Slide, ThreeDSlide

class Demo({base}):
    skip_reversing = True
    wait_time_between_slides = 0.1

    def construct(self):
        title, square, circle = Text("One"), Square(), Circle()
        self.add_to_canvas(title=title)
        self.play(FadeIn(title), FadeIn(square))
        assert self.canvas["title"] is title and self.mobjects_without_canvas == [square]
        self.next_slide(loop=True, notes='''Look
            at this.
              And this.''')
        self.play(Rotate(square))
        self.next_slide(auto_next=True, playback_rate=2, direction="horizontal")
        self.wipe(self.mobjects_without_canvas, [circle], direction=UP)
        self.next_slide()
        self.zoom(circle, square)
        self.play(self.wipe([], [circle], return_animation=True))
        self.remove_from_canvas("title")
        self.pause()
        self.start_loop()
        self.play(Indicate(square))
        self.end_loop()
        self.pause(0.2)
        for flags in self.slides:
            print(flags.section_type, flags.playback_rate, repr(flags.notes), dict(flags.others))
"""


@pytest.mark.parametrize("base", ["Slide", "ThreeDSlide"])
def test_slides_are_sections_whose_flags_are_kept(zygote: Zygote, tmp_path: Path, base: str) -> None:
    outcome = zygote.run(tmp_path, render_job(_SLIDES.format(base=base)))
    assert outcome.result["type"] == "done", outcome.result
    text = "".join(report["text"] for report in outcome.of_type("output"))
    assert text.strip().split("\n") == [
        "presentation.normal 1.0 '' {}",
        "presentation.loop 1.0 'Look\\nat this.\\n  And this.' {}",
        "presentation.skip 2 '' {'direction': 'horizontal'}",
        "presentation.normal 1.0 '' {}",
        "presentation.normal 1.0 '' {}",
        "presentation.loop 1.0 '' {}",
        "presentation.normal 1.0 '' {}",
    ]


def test_a_plugin_among_the_files_of_the_scene_wins(zygote: Zygote, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files, job = tmp_path / "files", tmp_path / "job"
    job.mkdir()
    files.mkdir()
    (files / "manim_slides.py").write_text("Slide = 'theirs'\n")
    imports = "from manim import *\nfrom manim_slides import Slide\n"
    code = f"{imports}class Demo(Scene):\n    def construct(self): print(Slide)\n"
    outcome = zygote.run(job, render_job(code), job_files=files)
    assert "".join(report["text"] for report in outcome.of_type("output")) == "theirs\n"
