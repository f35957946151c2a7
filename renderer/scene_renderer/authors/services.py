"""Stand-ins for the speech services of manim-voiceover: a scene has its audio among its files."""

from typing import Any


class SpeechService:
    """Accepts what any speech service accepts, and says nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.options = kwargs

    def set_transcription(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: times of words are given with the audio."""
