"""Voiceovers without a file: the scene asks the service for audio, and says what it lacks."""

from pathlib import Path
from typing import Any

import pytest

from client import Outcome, Zygote, check_job, render_job
from narrated import captioned, heard, write_bursts

_HEAD = """
from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.azure import AzureService

class Demo(VoiceoverScene):
    def construct(self):
"""


def _scene(*lines: str) -> str:
    return _HEAD + "".join(f"        {line}\n" for line in lines)


def _speaking(code: str, **changes: Any) -> dict[str, Any]:
    return render_job(code, hasSpeech=True, **changes)


def _audio(path: Path, seconds: float, ending: str = "wav") -> bytes:
    file = path / f"said.{ending}"
    write_bursts(file, seconds)
    return file.read_bytes()


def test_a_scene_is_given_the_audio_of_its_texts(zygote: Zygote, tmp_path: Path) -> None:
    code = _scene(
        'self.set_speech_service(AzureService(voice="en-US-AriaNeural", lang="en"))',
        "with self.voiceover(text='One <bookmark mark=\"A\"/>two.') as tracker:",
        "    bookmarks = tracker.bookmark_times",
        'with self.voiceover(text="Three.", voice="de+f3"): pass',
        'with self.voiceover(text="Three.", voice="de+f3"): print(bookmarks)',
    )
    channel = zygote.start(tmp_path, _speaking(code))
    first = channel.wait_for(type="speech")
    assert first == {
        "type": "speech",
        "text": "One two.",
        "voice": "en-US-AriaNeural",
        "language": "en",
    }
    words = ({"text": "One", "startSeconds": 0.1}, {"text": "two.", "startSeconds": 0.7})
    channel.answer(_audio(tmp_path, 1.2), *words)
    second = channel.wait_for(type="speech")
    assert (second["text"], second["voice"]) == ("Three.", "de+f3")
    channel.answer(_audio(tmp_path, 0.5, "mp3"))

    outcome = zygote.finish(channel)

    assert outcome.result["type"] == "done", outcome.result
    assert not outcome.of_type("speech"), "the same text is asked for once"
    output = "".join(report["text"] for report in outcome.of_type("output"))
    assert output.strip() == "{'A': 0.7}"
    texts = [text for _, _, text in captioned(tmp_path / "captions.vtt")]
    assert texts == ["One two.", "Three.", "Three."]
    assert len(heard(tmp_path / "video.mp4")) == 3


def test_an_error_names_the_text_and_what_happened(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, _speaking(_scene('self.add_voiceover_text("Hello.", key="intro")')))
    channel.wait_for(type="speech")
    channel.answer(None, error="it took longer than 60 seconds")
    found = zygote.finish(channel).result["finding"]
    assert found["message"] == (
        "No audio could be made for the text “Hello.”, with the key 'intro': it took longer than 60 seconds."
    )
    assert (found["kind"], found["line"]) == ("scene:file", 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('"x" * 4001', "A text that is said has 1 to 4000 characters: the text “xxx"),
        ('"<b></b>"', "A text that is said has 1 to 4000 characters: the text “”, without a key."),
        ('"Hi", voice="-v; ls"', "The voice is not a name of letters, digits and _.:+-"),
        ('"Hi", language="../en"', "The language is not a name of letters, digits and _.:+-"),
    ],
)
def test_what_no_service_is_asked(zygote: Zygote, tmp_path: Path, call: str, message: str) -> None:
    outcome = zygote.run(tmp_path, _speaking(_scene(f"self.add_voiceover_text({call})")))
    assert outcome.error.startswith(message)
    assert not outcome.of_type("speech")


def test_a_check_takes_silence_for_the_audio(zygote: Zygote, tmp_path: Path) -> None:
    code = _scene(f"with self.voiceover(text={'a' * 45!r}): pass")
    outcome: Outcome = zygote.run(tmp_path, check_job(code, hasSpeech=True))
    assert outcome.result["type"] == "checked", outcome.result
    assert outcome.length[1] == pytest.approx(3, abs=0.11)
    assert not outcome.of_type("speech")
