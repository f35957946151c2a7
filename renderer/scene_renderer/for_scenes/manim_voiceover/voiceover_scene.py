"""Scenes with voiceovers."""

from scene_renderer.authors.voiceover import VoiceoverScene

__all__ = ["VoiceoverScene"]
