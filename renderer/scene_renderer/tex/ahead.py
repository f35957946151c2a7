"""Compiles in a thread what a scene will ask for, while the scene's own thread runs.

LaTeX is another process, so the thread mostly waits. A document that the scene asks for meanwhile comes
first: at most the one that is being compiled is finished before.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Condition, Thread


class Ahead:
    """The documents of a job that are compiled ahead."""

    def __init__(self, compile_one: Callable[[str], bytes | None]) -> None:
        self._compile = compile_one
        self._process = os.getpid()
        self._changed = Condition()
        self._waiting: deque[str] = deque()
        self._current: str | None = None
        self._results: dict[str, bytes] = {}
        self._is_stopped = False
        self._thread: Thread | None = None

    def begin(self, find: Callable[[], Iterable[str]]) -> None:
        """Start the thread, which calls `find` and compiles the documents that it returns."""
        self._process = os.getpid()
        self._thread = Thread(target=self._run, args=(find,), name="formulas", daemon=True)
        with suppress(RuntimeError):  # there may be no more threads: nothing is compiled ahead
            self._thread.start()

    def take(self, document: str) -> bytes | None:
        """Return the DVI file of a document; None if the caller has to compile it.

        Waits for it if it is being compiled. A result is given once.
        """
        if self._process != os.getpid():
            return None  # a fork of the scene, without the thread
        with self._changed:
            with suppress(ValueError):
                self._waiting.remove(document)
            while self._current == document:
                self._changed.wait()
            return self._results.pop(document, None)

    def stop(self) -> None:
        """Compile nothing else."""
        self._is_stopped = True

    def _run(self, find: Callable[[], Iterable[str]]) -> None:
        # The scene changes the environment and the current folder at any moment, and other things that this
        # thread reads. What fails here is compiled when the scene asks for it.
        with suppress(Exception):
            documents = dict.fromkeys(find())
            with self._changed:
                self._waiting.extend(documents)
        while True:
            with self._changed:
                if self._is_stopped or not self._waiting:
                    return
                self._current = self._waiting.popleft()
            result = None
            with suppress(Exception):
                result = self._compile(self._current)
            with self._changed:
                if result is not None:
                    self._results[self._current] = result
                self._current = None
                self._changed.notify_all()
