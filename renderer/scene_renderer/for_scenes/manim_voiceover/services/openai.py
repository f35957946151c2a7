"""A stand-in for the speech of OpenAI."""

from scene_renderer.authors.services import SpeechService


class OpenAIService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
