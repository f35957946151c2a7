"""Sounds that a request places in the video, and the captions of what they say."""

from pathlib import Path

from ..authors import sounds, subcaptions
from ..messages import PlacedSound
from ..scene_error import SceneError
from ..video.frames import Cue
from .capture import MovieWriter

_NAMES_SHOWN = 10


def place(audio: list[PlacedSound], writer: MovieWriter, fps: float) -> None:
    """Add sounds and captions to what a scene has made.

    Raises SceneError for a moment that the scene does not have, and for a file that is no sound.
    """
    moments = writer.moments(fps) if audio else {}
    for sound in audio:
        start = _start(sound, moments)
        seconds = sounds.duration_of(sound.file)
        writer.add_sound_in_video(str(Path(sound.file)), start)
        words = [(word.text, word.start_seconds) for word in sound.words]
        parts = subcaptions.timed(words, seconds) if words else subcaptions.wrapped(sound.text or "", seconds)
        writer.placed += [Cue(start + begin, start + end, text) for begin, end, text in parts]


def _start(sound: PlacedSound, moments: dict[str, float]) -> float:
    if sound.at_seconds is not None:
        return sound.at_seconds
    name = sound.at_cue or ""
    if name in moments:
        return moments[name]
    shown = ", ".join([*moments][:_NAMES_SHOWN]) + (", …" if len(moments) > _NAMES_SHOWN else "")
    known = f"There are {shown}." if moments else "There is none."
    raise SceneError(
        f"There is no cue {name!r} for the sound {sound.file}. {known}",
        kind="scene:lookup",
        hint=f'Write cue("{name}") or self.next_section("{name}") where it begins.',
        candidates=(*moments,),
    )
