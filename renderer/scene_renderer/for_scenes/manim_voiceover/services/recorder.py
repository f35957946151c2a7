"""A stand-in for a microphone."""

from scene_renderer.authors.services import SpeechService


class RecorderService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
