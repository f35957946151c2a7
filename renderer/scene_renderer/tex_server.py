"""Runs LaTeX as a server that has read a preamble and forks for each document."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Lock

import manim

# Built by the setup beside Manim's package. Without it, each document is compiled by a LaTeX of its own.
_PRELOADED = Path(manim.__file__).parent.parent / "libscenepress_fork_at.so"
BEGIN = "\\begin{document}\n"
_NAME = "served"
_SERVERS_MAX = 4


class TexServers:
    """The servers of a job's process: one for each preamble."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._lock = Lock()
        self._servers: dict[tuple[object, ...], _TexServer | None] = {}

    def compile(self, source: Path, result: Path) -> bool:
        """Compile a document to DVI as ``latex`` does; False if it must be compiled without a server.

        That is also the case for a document with an error: its log is then the usual one.
        """
        if not self._belong_to_this_process():
            return False
        preamble, begin, body = source.read_text(encoding="utf-8").partition(BEGIN)
        if not begin or not _PRELOADED.exists() or "\\jobname" in body:
            return False
        # The input that latex would read again for each document.
        key = (source.parent, preamble, os.getcwd(), tuple(sorted(os.environ.items())))
        with self._lock:
            if key not in self._servers:
                if len(self._servers) == _SERVERS_MAX:
                    return False
                name = f"{_NAME}-{len(self._servers)}"
                try:
                    self._servers[key] = _TexServer(source.parent, name, preamble)
                except OSError:  # such as: there is no LaTeX; without a server, the message says so
                    self._servers[key] = None
            server = self._servers[key]
            if server is None:
                return False
            answer = server.compile(body, result)
            if answer is None:
                self._servers[key] = None
            return answer is True

    def _belong_to_this_process(self) -> bool:
        """Whether the servers are not those of a process that this one was forked from."""
        if not self._servers:
            self._process = os.getpid()
        return self._process == os.getpid()


class _TexServer:
    def __init__(self, folder: Path, name: str, preamble: str) -> None:
        self._body = folder / f"{name}-body.tex"
        self._output = folder / f"{name}.dvi"
        self._lines = preamble.count("\n") + 1
        command_name = "\\scenepressbody"
        main = folder / f"{name}.tex"
        main.write_text(
            f"{preamble}\n\\makeatletter\\let{command_name}\\@@input\\makeatother\n"
            f"{BEGIN}{command_name} {self._body.as_posix()} ",
            encoding="utf-8",
        )
        self._body.touch()
        requests, self._requests = os.pipe2(os.O_CLOEXEC)
        self._replies, replies = os.pipe2(os.O_CLOEXEC)
        command = ["latex", "-interaction=batchmode", "-output-format=dvi", "-halt-on-error"]
        try:
            self._server = subprocess.Popen(
                [*command, f"-output-directory={folder.as_posix()}", main.as_posix()],
                env={
                    **os.environ,
                    "LD_PRELOAD": str(_PRELOADED),
                    "FORK_AT": self._body.as_posix(),
                    "FORK_REQUESTS": str(requests),
                    "FORK_REPLIES": str(replies),
                },
                pass_fds=(requests, replies),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.close(requests)
            os.close(replies)

    def compile(self, body: str, result: Path) -> bool | None:
        """Compile a document; None if the server has ended."""
        # Empty lines keep the line numbers in messages.
        self._body.write_text("\n" * self._lines + body, encoding="utf-8")
        self._output.unlink(missing_ok=True)
        try:
            os.write(self._requests, b"+")
            status = os.read(self._replies, 4)
        except BrokenPipeError:
            status = b""
        if len(status) < 4:
            self.close()
            return None
        if int.from_bytes(status, "little") != 0 or not self._output.exists():
            return False
        self._output.rename(result)
        return True

    def close(self) -> None:
        """End the server, also where it can't be signaled: it ends with the pipe of its requests."""
        os.close(self._requests)
        os.close(self._replies)
        with suppress(OSError):
            self._server.kill()
        self._server.wait()
