"""The page on what scenes import of Scenepress."""

NARRATION = """## Parameters

```python
from manim import *
from scenepress_scene import param

class Greeting(Scene):
    name = param("name", "Ada", label="Who is greeted", maximum=20)
    language = param("language", "en", choices=["en", "de"])

    def construct(self):
        word = {"en": "Hello", "de": "Hallo"}[self.language]
        self.play(Write(Text(f"{word}, {self.name}!")))
        self.wait()
```

`param(name, default, type=, label=, minimum=, maximum=, choices=)` returns the given value or the
default. Types are `str`, `int`, `float`, `bool`, `list` and `dict`; bounds are of a number, or of the
length of another value. Values are given by `--param name=Emmy` or `--params values.json` to `render`,
`check` and `inspect`. `check --json` tells the declarations in `params`, and warns of a value that no
scene declares (`scene:param`).

## Narration

Scenes of manim-voiceover run unchanged. Of a speech service only voice and language are used: the audio
is beside the scene's file, or the operator's program says the text if there is one.

```py
from manim import *
from manim_voiceover import VoiceoverScene

class Lesson(VoiceoverScene):
    def construct(self):
        circle = Circle()
        with self.voiceover(text="A circle <bookmark mark='moves'/>moves.", key="circle") as tracker:
            self.play(Create(circle), run_time=tracker.time_until_bookmark("moves"))
            self.play(circle.animate.shift(LEFT), run_time=tracker.get_remaining_duration())
```

The audio is that of an entry in `narration.json` with the key or the text, without its tags; or a file
`circle.mp3|wav|ogg|m4a|flac`, also in `voices/`:

```json
{ "entries": [ { "text": "A circle moves.", "file": "voices/circle.mp3", "bookmarks": { "moves": 0.9 } } ] }
```

Without audio and program, `check` says which text and key want it (`scene:file`). Captions are made of
the text.

`from scenepress_scene import cue, wait_until_cue, duration_of`: `wait_until_cue("proof")` waits until the
seconds that `cues.json` (`{ "proof": 4.5 }`) or the parameter `cues` has for it;
`duration_of("intro.mp3")` is the length of a sound.

## Slides

`from manim_slides import Slide, ThreeDSlide`: `self.next_slide(loop=True, auto_next=True, notes="…")`
begins a slide, which is a section of the video. `scenepress render --formats slides,pdf` makes one HTML
file that presents them, and a PDF. There are `wipe`, `zoom`, `canvas` and
`wait_time_between_slides`."""
