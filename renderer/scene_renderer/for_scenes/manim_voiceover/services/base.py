"""The base class of speech services."""

from scene_renderer.authors.services import SpeechService

__all__ = ["SpeechService"]
