"""Scenes with voiceovers: the interface of the plugin manim-voiceover, with audio from outside."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from manim import Scene

from ..scene_error import SceneError
from . import narration, sounds, speech, stage, subcaptions
from .services import SpeechService


class VoiceoverTracker:
    """A voiceover that has begun: its times, on the clock of its scene and in seconds."""

    def __init__(self, scene: Scene, entry: narration.Entry, text: str) -> None:
        self.scene = scene
        self.entry = entry
        self.file = entry.file
        # What the plugin's trackers have, for scenes that look at it.
        self.data: dict[str, Any] = {
            "input_text": text,
            "input_data": {"input_text": text},
            "original_audio": str(entry.file),
            "final_audio": str(entry.file),
        }
        self.duration = sounds.duration_of(entry.file)
        self.start_t = stage.now(scene)
        self.end_t = self.start_t + self.duration
        self.bookmark_times = {
            mark: self.start_t + self._seconds_at(mark, words, characters, text)
            for mark, words, characters in narration.bookmarks_in(text)
        }

    def _seconds_at(self, mark: str, words: int, characters: int, text: str) -> float:
        """Return when a bookmark is said: as given, or when the next word is, or estimated by characters."""
        if mark in self.entry.bookmarks:
            return self.entry.bookmarks[mark]
        whole = narration.plain(text)
        said = self.entry.words
        if said:
            # The words of a transcript may be divided otherwise.
            index = round(words * len(said) / max(1, len(whole.split())))
            return said[index].start_s if index < len(said) else self.duration
        return self.duration * characters / max(1, len(whole))

    def get_remaining_duration(self, buff: float = 0) -> float:
        """Return the seconds until the end of the voiceover, and `buff` more; at least 0."""
        return max(0.0, self.end_t - stage.now(self.scene) + buff)

    def time_until_bookmark(self, mark: str, buff: float = 0, limit: float | None = None) -> float:
        """Return the seconds until a bookmark, and `buff` more; at least 0, and at most `limit`."""
        if mark not in self.bookmark_times:
            marks = ", ".join(self.bookmark_times) or "none"
            raise SceneError(
                f"There is no bookmark {mark!r} in the text of this voiceover. It has {marks}.",
                kind="scene:lookup",
                hint=f"Write <bookmark mark='{mark}'/> into the text.",
                candidates=(*self.bookmark_times,),
            )
        left = max(0.0, self.bookmark_times[mark] - stage.now(self.scene) + buff)
        return left if limit is None else min(limit, left)


class VoiceoverScene(Scene):
    """A scene with voiceovers: audio is among its files (`narration`), or made by the service (`speech`)."""

    speech_service: object = None
    current_tracker: VoiceoverTracker | None = None
    create_subcaption = True

    def set_speech_service(self, speech_service: object, create_subcaption: bool = True) -> None:
        """Accept a speech service, of which only voice and language are used.

        `create_subcaption`: whether texts become captions.
        """
        self.speech_service = speech_service
        self.create_subcaption = create_subcaption

    def add_voiceover_text(
        self,
        text: str,
        subcaption: str | None = None,
        max_subcaption_len: int = subcaptions.CHARACTERS_MAX,
        subcaption_buff: float = subcaptions.GAP_S,
        key: str | None = None,
        voice: str | None = None,
        language: str | None = None,
        **kwargs: Any,
    ) -> VoiceoverTracker:
        """Begin a voiceover now.

        `voice`, `language`: of audio that the service makes; by default those of the speech service that was
        set. `kwargs`: for other speech services, not used. Raises SceneError without audio.
        """
        entry = narration.find(text, key)
        if entry is None:
            set_ = self.speech_service if isinstance(self.speech_service, SpeechService) else SpeechService()
            entry = speech.entry_of(text, key, voice or set_.voice, language or set_.language)
        tracker = VoiceoverTracker(self, entry, text)
        self.current_tracker = tracker
        self.add_sound(str(tracker.file))
        if self.create_subcaption:
            self.add_wrapped_subcaption(
                narration.plain(text) if subcaption is None else subcaption,
                tracker.duration,
                subcaption_buff,
                max_subcaption_len,
            )
        return tracker

    def add_voiceover_ssml(self, ssml: str, **kwargs: Any) -> VoiceoverTracker:
        """Begin a voiceover whose text is SSML, as `add_voiceover_text`."""
        return self.add_voiceover_text(ssml, **kwargs)

    def add_wrapped_subcaption(
        self,
        subcaption: str,
        duration: float,
        subcaption_buff: float = subcaptions.GAP_S,
        max_subcaption_len: int = subcaptions.CHARACTERS_MAX,
    ) -> None:
        """Add a text as captions, one after the other, of about equal numbers of words."""
        parts = subcaptions.wrapped(subcaption, duration, max_subcaption_len, subcaption_buff)
        for begin, end, part in parts:
            self.add_subcaption(part, duration=end - begin, offset=begin)

    @contextmanager
    def voiceover(
        self, text: str | None = None, ssml: str | None = None, **kwargs: Any
    ) -> Iterator[VoiceoverTracker]:
        """Begin a voiceover, whose tracker is given, and wait for its end after the block."""
        said = text if text is not None else ssml
        if said is None:
            raise SceneError("A voiceover has a `text` or `ssml`.", kind="scene:argument")
        yield self.add_voiceover_text(said, **kwargs)
        self.wait_for_voiceover()

    def wait_for_voiceover(self) -> None:
        """Wait until the end of the last voiceover; not at all if it has ended."""
        if self.current_tracker is not None:
            stage.wait_at_least(self, self.current_tracker.get_remaining_duration())

    def wait_until_bookmark(self, mark: str) -> None:
        """Wait until a bookmark of the last voiceover, to the nearest frame."""
        if self.current_tracker is None:
            raise SceneError("There is no voiceover to wait for.", kind="scene:value")
        stage.wait_nearly(self, self.current_tracker.time_until_bookmark(mark))

    def safe_wait(self, duration: float) -> None:
        """Wait, to the nearest frame; not at all if that is none."""
        stage.wait_nearly(self, duration)
