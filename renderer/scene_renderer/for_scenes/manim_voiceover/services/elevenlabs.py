"""A stand-in for the speech of ElevenLabs."""

from scene_renderer.authors.services import SpeechService


class ElevenLabsService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
