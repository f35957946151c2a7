"""Audio that the service makes of texts which no file of the scene says."""

import base64
import re
import tempfile
import wave
from collections.abc import Callable
from pathlib import Path

from ..messages import SpeechAnswer
from ..scene_error import SceneError
from . import narration
from .narration import Entry, Word

Ask = Callable[[str, str | None, str | None], SpeechAnswer]

_CHARACTERS_MAX = 4000
# What a voice or a language is called: the service lets no other name pass.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}", re.ASCII)
_HINT = "Try again later, change the text or the voice, or give a file with the audio: see narration.json."
# How the audio of a check is estimated.
_CHARACTERS_PER_S, _LEAST_S = 15, 0.5
_SILENCE_RATE_HZ = 8000

_ask: Ask | None = None
_entries: dict[tuple[str, str | None, str | None], Entry] = {}


def offer(ask: Ask | None) -> None:
    """Set what returns the audio of a text, a voice and a language; None: there is no such service."""
    global _ask
    _ask = ask
    _entries.clear()


def entry_of(text: str, key: str | None, voice: object, language: object) -> Entry:
    """Return a file in which the service says a text. `key`: for errors.

    Raises SceneError without a service, and if it has made none.
    """
    if _ask is None:
        raise narration.lacking(text, key)
    said = narration.plain(text)
    about = narration.named(text, key)
    if not said or len(said) > _CHARACTERS_MAX:
        raise SceneError(f"A text that is said has 1 to {_CHARACTERS_MAX} characters: {about}.")
    how = (said, _name(voice, "voice", about), _name(language, "language", about))
    if how not in _entries:
        _entries[how] = _made(_ask(*how), about)
    return _entries[how]


def name_in(value: object) -> str | None:
    """Return a value if it can be the name of a voice or a language."""
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def estimate(text: str, voice: str | None, language: str | None) -> SpeechAnswer:
    """Return silence that is about as long as a text: a check has no audio made."""
    frames = round(max(_LEAST_S, len(text) / _CHARACTERS_PER_S) * _SILENCE_RATE_HZ)
    with tempfile.TemporaryFile() as file:
        with wave.open(file, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(_SILENCE_RATE_HZ)
            sound.writeframes(bytes(2 * frames))
        file.seek(0)
        return SpeechAnswer(base64.b64encode(file.read()).decode(), [], None)


def _name(value: object, noun: str, about: str) -> str | None:
    if value is None or name_in(value) is not None:
        return name_in(value)
    message = f"The {noun} is not a name of letters, digits and _.:+- (at most 100 characters), for {about}."
    raise SceneError(message, kind="scene:value")


def _made(answer: SpeechAnswer, about: str) -> Entry:
    if answer.audio is None:
        reason = answer.error or "the service did not say why"
        message = f"No audio could be made for {about}: {reason}."
        raise SceneError(message, kind="scene:file", hint=_HINT)
    audio = base64.b64decode(answer.audio)
    file = Path(tempfile.gettempdir()) / f"speech-{len(_entries) + 1}.{_ending(audio)}"
    file.write_bytes(audio)
    words = [Word(word.text, word.start_seconds) for word in answer.words]
    return Entry(file, words=words)


def _ending(audio: bytes) -> str:
    return {b"RIFF": "wav", b"OggS": "ogg"}.get(audio[:4], "mp3")
