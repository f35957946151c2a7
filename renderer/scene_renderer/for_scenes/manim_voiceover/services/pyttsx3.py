"""A stand-in for pyttsx3."""

from scene_renderer.authors.services import SpeechService


class PyTTSX3Service(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
