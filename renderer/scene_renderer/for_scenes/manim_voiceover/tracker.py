"""Trackers of voiceovers."""

from scene_renderer.authors.voiceover import VoiceoverTracker

__all__ = ["VoiceoverTracker"]
