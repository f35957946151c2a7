"""A stand-in for Google Translate's speech."""

from scene_renderer.authors.services import SpeechService


class GTTSService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
