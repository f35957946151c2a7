"""Scenes with voiceovers: audio is found, and picture, captions and sound line up."""

from pathlib import Path
from typing import Any

import pytest

from client import Zygote, check_job, read_job, render_job
from narrated import captioned, heard, seen, write_bursts, write_narration

_NEAR_S = 0.04
_HEAD = "from manim import *\nfrom scenepress_scene import *\n\n"


def _scene(*lines: str, base: str = "VoiceoverScene", above: str = "") -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"{_HEAD}{above}class Demo({base}):\n    def construct(self):\n{body}"


def _folder(path: Path, name: str) -> Path:
    folder = path / name
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    return folder


def _run(zygote: Zygote, path: Path, job: dict[str, Any]) -> Any:
    path.chmod(0o755)
    return zygote.run(_folder(path, "job"), job, job_files=_folder(path, "files"))


_NARRATED = _scene(
    "shade = Rectangle(width=15, height=9, stroke_width=0, fill_opacity=1)",
    'with self.voiceover(text="First of three.", key="intro") as tracker:',
    "    self.add(shade.set_fill(GRAY_E))",
    "    self.play(Wait(tracker.duration / 2))",
    'with self.voiceover(text="""Second, <bookmark mark=\'A\'/>with a',
    '                              bookmark."""):',
    "    self.add(shade.set_fill(GRAY_C))",
    '    self.wait_until_bookmark("A")',
    "    self.add(shade.set_fill(GRAY_A))",
    'with self.voiceover(text="Third.", key="end", subcaption="The third."):',
    "    self.add(shade.set_fill(WHITE))",
    "self.add(shade.set_fill(BLACK))",
    "self.wait(0.5)",
)


@pytest.mark.parametrize("fps", [15, 30])
def test_picture_captions_and_sound_of_three_files_line_up(zygote: Zygote, tmp_path: Path, fps: int) -> None:
    files = _folder(tmp_path, "files")
    write_bursts(files / "voices/intro.wav", 1.31)
    write_bursts(files / "second.mp3", 1.77, [0.0, 0.93])
    write_bursts(files / "end.flac", 0.59)
    starts = (("Second,", 0.0), ("with", 0.93), ("a", 1.2), ("bookmark.", 1.4))
    words = [{"text": text, "startSeconds": start} for text, start in starts]
    write_narration(files, {"text": "Second, with a bookmark.", "file": "second.mp3", "words": words})

    outcome = _run(zygote, tmp_path, render_job(_NARRATED, fps=fps))

    assert outcome.result["type"] == "done", outcome.result
    job = tmp_path / "job"
    sounds, pictures = heard(job / "video.mp4"), seen(job / "video.mp4")
    captions = captioned(job / "captions.vtt")
    assert sounds == pytest.approx(pictures[:4], abs=_NEAR_S)
    assert sounds[0] == pytest.approx(0, abs=_NEAR_S)
    assert [begin for begin, _, _ in captions] == pytest.approx(
        [sounds[0], sounds[1], sounds[3]], abs=_NEAR_S
    )
    assert [text for _, _, text in captions] == ["First of three.", "Second, with a bookmark.", "The third."]
    assert captions[0][1] == pytest.approx(1.31, abs=_NEAR_S)
    # No voiceover begins before the one before it has ended.
    assert 1.31 <= pictures[1] <= 1.31 + 1.01 / fps
    assert pictures[2] - pictures[1] == pytest.approx(0.93, abs=_NEAR_S)


def test_a_file_is_found_by_key_by_text_and_by_name(zygote: Zygote, tmp_path: Path) -> None:
    files = _folder(tmp_path, "files")
    for number, name in enumerate(["by-key.wav", "by-text.wav", "named.ogg", "voices/other.m4a"], start=1):
        write_bursts(files / name, number / 5)
    entries = [{"key": "k", "file": "by-key.wav"}, {"text": " By\n text ", "file": "by-text.wav"}]
    write_narration(files, *entries)
    code = _scene(
        "for text, key in [('x', 'k'), ('By <b>text</b>', None), ('x', 'named'), ('x', 'other')]:",
        "    with self.voiceover(text, key=key) as tracker: print(round(tracker.duration, 1))",
        "with self.voiceover(ssml='<speak>By text</speak>') as tracker: print(tracker.duration)",
    )
    outcome = _run(zygote, tmp_path, render_job(code))
    assert outcome.result["type"] == "done", outcome.result
    text = "".join(report["text"] for report in outcome.of_type("output"))
    assert [float(line) for line in text.split()] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.4], abs=0.06)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("text='Hello  there'", "There is no audio for the text “Hello there”, without a key."),
        ("text='Hello', key='a'", "There is no audio for the text “Hello”, with the key 'a'."),
        (
            f"text='{'long ' * 30}'",
            f"There is no audio for the text “{('long ' * 30)[:79].rstrip()}…”, without a key.",
        ),
        ("", "A voiceover has a `text` or `ssml`."),
    ],
)
def test_an_error_says_which_text_and_key_lack_audio(
    zygote: Zygote, tmp_path: Path, call: str, message: str
) -> None:
    code = _scene("self.wait(0.1)", f"with self.voiceover({call}): self.wait()")
    found = _run(zygote, tmp_path, check_job(code)).result["finding"]
    assert (found["message"], found["line"]) == (message, 7)
    if "audio" in message:
        assert found["kind"] == "scene:file"
        assert "narration.json" in found["hint"]


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is an object with a list of `entries`"),
        ('{"entries": [{"file": "a.wav"}, {"text": "x"}]}', "entries[1] has a `file`"),
        ('{"entries": [{"file": "a.wav", "words": [{"text": "x"}]}]}', "entries[0] has a `file`"),
    ],
)
def test_a_wrong_narration_file_is_told(zygote: Zygote, tmp_path: Path, content: str, rule: str) -> None:
    (_folder(tmp_path, "files") / "narration.json").write_text(content)
    found = _run(zygote, tmp_path, check_job(_scene("self.add_voiceover_text('x')"))).result["finding"]
    assert found["message"].startswith(f"narration.json can't be used: {rule}")
    assert found["line"] == 6


def test_bookmarks_are_given_or_those_of_words_or_estimated(zygote: Zygote, tmp_path: Path) -> None:
    files = _folder(tmp_path, "files")
    write_bursts(files / "a.wav", 2)
    text = "one two <bookmark mark='A'/>three four<bookmark mark=\"B\" />"
    words = [
        {"text": word, "startSeconds": 0.5 * n} for n, word in enumerate(("one", "two", "three", "four"))
    ]
    plain = {"text": "one two three four", "file": "a.wav"}
    lines = [
        f"tracker = self.add_voiceover_text({text!r})",
        "print(*(round(tracker.time_until_bookmark(mark), 2) for mark in 'AB'))",
        "print(tracker.time_until_bookmark('B', limit=0.5), tracker.get_remaining_duration(buff=1))",
    ]
    for more, times in (
        ({}, "0.78 2.0"),
        ({"words": words}, "1.0 2.0"),
        ({"words": words, "bookmarks": {"A": 0.25}}, "0.25 2.0"),
    ):
        write_narration(files, {**plain, **more})
        outcome = _run(zygote, tmp_path, check_job(_scene(*lines)))
        assert outcome.result["type"] == "checked", outcome.result
        output = "".join(report["text"] for report in outcome.of_type("output"))
        assert output.split("\n")[:2] == [times, "0.5 3.0"]
    unknown = _run(zygote, tmp_path, check_job(_scene(lines[0], "self.wait_until_bookmark('C')")))
    assert unknown.result["finding"]["message"] == (
        "There is no bookmark 'C' in the text of this voiceover. It has A, B."
    )


def test_a_long_text_becomes_captions_over_the_time_of_its_audio(zygote: Zygote, tmp_path: Path) -> None:
    files = _folder(tmp_path, "files")
    write_bursts(files / "long.wav", 4)
    words = " ".join(f"word{number}" for number in range(20))
    code = _scene(f"with self.voiceover({words!r}, key='long'): pass")
    assert _run(zygote, tmp_path, render_job(code)).result["type"] == "done"
    captions = captioned(tmp_path / "job/captions.vtt")
    assert " ".join(text for _, _, text in captions) == words
    assert all(len(text) <= 80 for _, _, text in captions)
    assert len(captions) == 2
    assert captions[0][0] == 0
    assert captions[1][0] - captions[0][1] == pytest.approx(0.1, abs=0.002)
    assert captions[-1][1] == pytest.approx(4, abs=0.002)

    quiet = _scene(
        "self.set_speech_service(None, create_subcaption=False)",
        f"self.add_voiceover_text({words!r}, key='long')",
    )
    assert _run(zygote, tmp_path, render_job(quiet)).result["type"] == "done"


def test_cues_come_from_the_parameter_or_the_file(zygote: Zygote, tmp_path: Path) -> None:
    (_folder(tmp_path, "files") / "cues.json").write_text('{"a": 0.4, "b": 1.0}')
    code = _scene(
        'wait_until_cue("a")',
        "print(self.time)",
        "self.add(Square().add_updater(lambda s, dt: s.shift(dt * RIGHT)))",
        'wait_until_cue("b")',
        "print(self.time, cue('b'))",
        'wait_until_cue("a")',
        base="Scene",
    )
    outcome = _run(zygote, tmp_path, render_job(code, fps=15, params='{"cues": {"b": 1.51}}'))
    assert outcome.result["type"] == "done", outcome.result
    text = "".join(report["text"] for report in outcome.of_type("output"))
    first, second, *_ = text.split("\n")
    assert float(first) == pytest.approx(0.4)
    assert [float(number) for number in second.split()] == pytest.approx([23 / 15, 1.51])
    assert "The cue a has passed 1.13 s ago" in text
    unknown = _run(zygote, tmp_path, check_job(_scene("wait_until_cue('z')"))).result["finding"]
    assert unknown["message"] == "There is no cue 'z'. There are a, b."
    assert unknown["line"] == 6


def test_durations_are_those_of_the_samples(zygote: Zygote, tmp_path: Path) -> None:
    files = _folder(tmp_path, "files")
    write_bursts(files / "a.wav", 1.25)
    write_bursts(files / "a.mp3", 1.25)
    (files / "broken.mp3").write_text("no sound")
    code = _scene("print(duration_of('a.wav'), duration_of('a.mp3'))", base="Scene")
    outcome = _run(zygote, tmp_path, check_job(code))
    text = "".join(report["text"] for report in outcome.of_type("output"))
    assert [float(number) for number in text.split()] == pytest.approx([1.25, 1.25], abs=0.06)
    for name, message in (
        ("none.mp3", "There is no sound none.mp3."),
        ("broken.mp3", "broken.mp3 can't be read"),
    ):
        wrong = _run(zygote, tmp_path, check_job(_scene(f"duration_of({name!r})"))).result["finding"]
        assert wrong["message"].startswith(message)
        assert (wrong["kind"], wrong["line"]) == ("scene:file", 6)


def test_a_source_with_voiceovers_is_read_without_a_finding(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.run(tmp_path, read_job(_NARRATED)).result["findings"] == []
