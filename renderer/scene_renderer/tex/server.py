"""Runs LaTeX as a server that has read a preamble and forks for each document."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Lock

import manim

from .formats import Formats

# Built by the setup beside Manim's package. Without it, each document is compiled by a LaTeX of its own.
_PRELOADED = Path(manim.__file__).parent.parent / "libscenepress_fork_at.so"
BEGIN = "\\begin{document}\n"
_NAME = "served"
_SERVERS_MAX = 4


class TexServers:
    """The servers of a job's process: one for each preamble."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._lock = Lock()  # a scene may have several threads
        self._servers: dict[tuple[object, ...], _TexServer | None] = {}

    def compile(self, source: Path, result: Path, formats: Formats | None = None) -> bool:
        """Compile a document to DVI as ``latex`` does; False if it must be compiled without a server.

        That is also the case for a document with an error: its log is then the usual one. `formats`: if they
        are made of the files that LaTeX would find here.
        """
        document = source.read_text(encoding="utf-8")
        with suppress(OSError):
            data = self._compile(document, source.parent, formats)
            if data is not None:
                result.write_bytes(data)
                return True
        return False

    def _compile(self, document: str, folder: Path, formats: Formats | None) -> bytes | None:
        if not self._belong_to_this_process():
            return None
        preamble, begin, body = document.partition(BEGIN)
        if not begin or not _PRELOADED.exists() or "\\jobname" in body:
            return None
        # What LaTeX reads for each document besides the body: a server serves one such key.
        key = (folder, preamble, os.getcwd(), tuple(sorted(os.environ.items())))
        with self._lock:
            if key not in self._servers:
                if len(self._servers) == _SERVERS_MAX:
                    return None
                name = f"{_NAME}-{len(self._servers)}"
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    self._servers[key] = _TexServer(folder, name, preamble, formats)
                except OSError:  # such as a missing LaTeX, which compiling without a server reports
                    self._servers[key] = None
            server = self._servers[key]
            if server is None:
                return None
            data = server.compile(body)
            if server.has_ended:
                self._servers[key] = None
            return data

    def _belong_to_this_process(self) -> bool:
        """Whether this process started the servers, not one that it was forked from."""
        if not self._servers:
            self._process = os.getpid()
        return self._process == os.getpid()


class _Pipes:
    """The pipes to a process that forks when it opens a file."""

    def __init__(self) -> None:
        self.requests, self.request = os.pipe2(os.O_CLOEXEC)
        self.reply, self.replies = os.pipe2(os.O_CLOEXEC)

    def close_theirs(self) -> None:
        os.close(self.requests)
        os.close(self.replies)

    def close(self) -> None:
        os.close(self.request)
        os.close(self.reply)

    def ask(self) -> int | None:
        """Have a document compiled and return the exit status; None if the server has ended."""
        status = b""
        with suppress(BrokenPipeError):
            os.write(self.request, b"+")
            status = os.read(self.reply, 4)
        return int.from_bytes(status, "little") if len(status) == 4 else None


class _TexServer:
    """A LaTeX that forks for each document."""

    def __init__(self, folder: Path, name: str, preamble: str, formats: Formats | None) -> None:
        self.has_ended = False
        self._body = folder / f"{name}-body.tex"
        self._output = folder / f"{name}.dvi"
        self._lines = preamble.count("\n") + 1
        main = folder / f"{name}.tex"
        command = ["latex", "-interaction=batchmode", "-output-format=dvi", "-halt-on-error"]
        found = formats.find(preamble) if formats else None
        if found is not None:
            file, preamble = found
            command.append(f"-fmt={file.as_posix()}")
        main.write_text(
            f"{preamble}\n\\makeatletter\\let\\scenepressbody\\@@input\\makeatother\n"
            f"{BEGIN}\\scenepressbody {self._body.as_posix()} ",
            encoding="utf-8",
        )
        self._body.touch()
        self._pipes = _Pipes()
        try:
            self._server = subprocess.Popen(
                [*command, f"-output-directory={folder.as_posix()}", main.as_posix()],
                env={
                    **os.environ,
                    "LD_PRELOAD": str(_PRELOADED),
                    "FORK_AT": self._body.as_posix(),
                    "FORK_REQUESTS": str(self._pipes.requests),
                    "FORK_REPLIES": str(self._pipes.replies),
                },
                pass_fds=[self._pipes.requests, self._pipes.replies],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            self._pipes.close_theirs()

    def compile(self, body: str) -> bytes | None:
        """Compile a document; None if that fails."""
        # Empty lines keep the line numbers in messages.
        self._body.write_text("\n" * self._lines + body, encoding="utf-8")
        self._output.unlink(missing_ok=True)
        status = self._pipes.ask()
        if status is None:
            self.close()
        if status != 0:
            return None
        try:
            return self._output.read_bytes()
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """End the server, also where it can't be signaled: it ends with the pipe of its requests."""
        self.has_ended = True
        self._pipes.close()
        with suppress(OSError):
            self._server.kill()
        self._server.wait()
