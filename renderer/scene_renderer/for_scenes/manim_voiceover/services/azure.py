"""A stand-in for the speech of Azure."""

from scene_renderer.authors.services import SpeechService


class AzureService(SpeechService):
    """Accepts all options, and says nothing: audio is given."""
