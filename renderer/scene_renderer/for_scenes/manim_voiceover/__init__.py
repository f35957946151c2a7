"""The interface of manim-voiceover, with audio that is given (`scenepress_scene`)."""

from scene_renderer.authors.voiceover import VoiceoverScene, VoiceoverTracker

__all__ = ["VoiceoverScene", "VoiceoverTracker"]
