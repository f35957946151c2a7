"""Stand-ins for the speech services of manim-voiceover: audio is among the scene's files, or made outside."""

from typing import Any

from . import speech

_VOICES = ("voice", "voice_name", "voice_id", "speaker")
_LANGUAGES = ("lang", "language")


class SpeechService:
    """Accepts what any speech service accepts; says nothing itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.options = kwargs

    @property
    def voice(self) -> str | None:
        """The voice among the options, if it has a plain name."""
        return self._named(_VOICES)

    @property
    def language(self) -> str | None:
        """The language among the options."""
        return self._named(_LANGUAGES)

    def _named(self, names: tuple[str, ...]) -> str | None:
        found = (speech.name_in(self.options.get(name)) for name in names)
        return next((name for name in found if name is not None), None)

    def set_transcription(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: times of words are given with the audio."""
