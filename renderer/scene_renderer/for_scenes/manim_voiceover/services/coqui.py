"""A stand-in for Coqui."""

from scene_renderer.authors.services import SpeechService


class CoquiService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
