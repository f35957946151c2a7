"""The narration of a scene: which of its files is what is said of a text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..scene_error import SceneError

_FILE = Path("narration.json")
_FOLDERS = (Path(), Path("voices"))
_ENDINGS = ("mp3", "wav", "ogg", "m4a", "flac")
_TAG = re.compile(r"<[^<>]+>")
_BOOKMARK = re.compile(r"<bookmark\s+mark\s*=\s*(['\"])(?P<mark>.*?)\1\s*/?>")
_SHOWN_CHARACTERS_MAX = 80
_HINT = (
    'Put an entry into narration.json among the files of the scene: {"entries": [{"text": "…", "file": '
    '"voices/intro.mp3"}]}; or pass key="intro" to `voiceover`, and give a file voices/intro.mp3.'
)


@dataclass(frozen=True)
class Word:
    """A word that is said, and when."""

    text: str
    start_s: float


@dataclass(frozen=True)
class Entry:
    """A text that is said in a file."""

    file: Path
    key: str | None = None
    text: str | None = None
    words: list[Word] = field(default_factory=list)
    # Times that were given for bookmarks, in seconds from the beginning of the file.
    bookmarks: dict[str, float] = field(default_factory=dict)


def plain(text: str) -> str:
    """Return a text without bookmarks and other tags, with white space normalized."""
    return " ".join(_TAG.sub(" ", text).split())


def bookmarks_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the bookmarks of a text: the name, and the numbers of words and characters before it."""
    for match in _BOOKMARK.finditer(text):
        before = plain(text[: match.start()])
        yield match["mark"], len(before.split()), len(before)


def find(text: str, key: str | None) -> Entry | None:
    """Return the file in which a text is said, found by the key or else by the text; None: there is none.

    Raises SceneError if what is among the files can't be read.
    """
    words = plain(text)
    entries = _entries()
    found = next((entry for entry in entries if key is not None and entry.key == key), None)
    if found is None:
        found = next((entry for entry in entries if entry.text is not None and entry.text == words), None)
    if found is None and key is not None:
        files = (folder / f"{key}.{ending}" for folder in _FOLDERS for ending in _ENDINGS)
        found = next((Entry(file, key) for file in files if file.is_file()), None)
    return found


def lacking(text: str, key: str | None) -> SceneError:
    """Return the error for a text without audio."""
    return SceneError(f"There is no audio for {named(text, key)}.", kind="scene:file", hint=_HINT)


def named(text: str, key: str | None) -> str:
    """Return how an error names a text and its key."""
    words = plain(text)
    shown = (
        words if len(words) <= _SHOWN_CHARACTERS_MAX else f"{words[: _SHOWN_CHARACTERS_MAX - 1].rstrip()}…"
    )
    return f"the text “{shown}”, " + ("without a key" if key is None else f"with the key {key!r}")


def _entries() -> list[Entry]:
    if not _FILE.is_file():
        return []
    try:
        content = json.loads(_FILE.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _wrong(f"it is no JSON: {error}") from error
    entries = content.get("entries") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise _wrong("it is an object with a list of `entries`")
    return [_entry(one, number) for number, one in enumerate(entries)]


def _entry(one: Any, number: int) -> Entry:
    try:
        key, text, words = one.get("key"), one.get("text"), one.get("words") or []
        return Entry(
            Path(one["file"]),
            None if key is None else str(key),
            None if text is None else plain(str(text)),
            [Word(str(word["text"]), float(word["startSeconds"])) for word in words],
            {str(mark): float(time) for mark, time in (one.get("bookmarks") or {}).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _wrong(
            f"entries[{number}] has a `file`, a `text` or `key`, and perhaps `words` with `text` and "
            "`startSeconds`, and `bookmarks` with their seconds"
        ) from error


def _wrong(rule: str) -> SceneError:
    return SceneError(f"{_FILE} can't be used: {rule}.", kind="scene:file", hint=_HINT)
