"""What scenes import of the renderer: parameters, cues, sounds and voiceovers."""

from scene_renderer.authors.cues import cue, wait_until_cue
from scene_renderer.authors.params import param
from scene_renderer.authors.sounds import duration_of
from scene_renderer.authors.voiceover import VoiceoverScene, VoiceoverTracker

__all__ = ["VoiceoverScene", "VoiceoverTracker", "cue", "duration_of", "param", "wait_until_cue"]
