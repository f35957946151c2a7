"""Sends and receives the messages between service, zygote and job: JSON, one object per line.

``protocol.json`` describes the messages; ``messages.py`` is generated from it.
"""

import base64
import json
import os
import socket
import threading
import time

from .messages import (
    Finding,
    JobReport,
    JobStage,
    Param,
    Picture,
    Play,
    RendererJob,
    SpeechAnswer,
    WorkTimes,
    ZygoteReport,
    parse_renderer_job,
)
from .scene_error import Failure

ERROR_BYTES_MAX = 4096
OUTPUT_CHARACTERS_MAX = 8192
PREVIEW_BYTES_MAX = 65_536
_JOB_BYTES_MAX = 4_194_304
# Audio of 16 MiB in base64, and the times of its words.
_ANSWER_BYTES_MAX = 24 << 20
# The service accepts lines of 128 KiB.
_READ_BYTES_MAX = 120_000
_PROGRESS_INTERVAL_S = 0.1
_OUTPUTS_AT_ONCE = 200
_LISTENS_WITHIN_S = 20.0
_LOOK_AGAIN_S = 0.0005


def encode_line(message: ZygoteReport | JobReport) -> bytes:
    """Return a message as a line of ASCII: lone surrogates and control characters are escaped."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def connect(path: str) -> socket.socket:
    """Connect to a Unix socket. Changes to its folder: paths of sockets are limited to 107 bytes.

    Raises OSError with the path.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder, name = os.path.split(path)
    os.chdir(folder)
    try:
        connection.connect(name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    return connection


def connect_when_it_listens(path: str) -> socket.socket:
    """Connect to a Unix socket at which another process will listen soon. Raises OSError if it doesn't."""
    deadline = time.monotonic() + _LISTENS_WITHIN_S
    while True:
        try:
            return connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_AGAIN_S)


def listen(path: str) -> socket.socket:
    """Listen at a Unix socket for one connection, as `connect`."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder, name = os.path.split(path)
    os.chdir(folder)
    listener.bind(name)
    listener.listen(1)
    return listener


class JobChannel:
    """The job's end of its socket. Reports may come from several threads."""

    def __init__(self, path: str) -> None:
        self._socket = connect(path)
        self._received = bytearray()
        self._lock = threading.RLock()
        self._asking = threading.Lock()
        self._progress_due = 0.0
        self._output: list[str] = []
        self._outputs = 0

    def close(self) -> None:
        """Close this process's copy of the socket."""
        self._socket.close()

    def receive(self) -> RendererJob:
        """Wait for the job. Raises ConnectionError if the service disconnects or the message is too long."""
        return parse_renderer_job(json.loads(self._read_line()))

    def await_end_of_render(self) -> None:
        """Wait until all processes of the render whose frames are encoded are dead. Raises as `receive`."""
        self._read_line()

    def speech(self, text: str, voice: str | None, language: str | None) -> SpeechAnswer:
        """Ask for the audio of a text, and wait for it. Raises as `receive`."""
        with self._asking:
            self._send({"type": "speech", "text": text, "voice": voice, "language": language})
            return SpeechAnswer.parse(json.loads(self._read_line(_ANSWER_BYTES_MAX)))

    def _read_line(self, bytes_max: int = _JOB_BYTES_MAX) -> bytes:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            chunk = self._socket.recv(65_536)
            self._received += chunk
            if not chunk or len(self._received) > bytes_max:
                raise ConnectionError("the service sent no message")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def stage(self, stage: JobStage) -> None:
        """Report the current stage of the job."""
        self._send({"type": "stage", "stage": stage})

    def progress(self, frames: int, seconds: float, *, is_whole: bool = False) -> None:
        """Report the length of the video so far; dropped soon after another, unless it is whole."""
        now = time.monotonic()
        if is_whole or now >= self._progress_due:
            self._progress_due = now + _PROGRESS_INTERVAL_S
            self.flush_output()
            self._send({"type": "progress", "frames": frames, "seconds": seconds})

    def preview(self, jpeg: bytes) -> None:
        """Report a picture of the current frame; dropped if it is too large."""
        text = base64.b64encode(jpeg).decode("ascii")
        if len(text) <= PREVIEW_BYTES_MAX:
            self._send({"type": "preview", "jpeg": text})

    def plays(self, plays: list[Play]) -> None:
        """Report some plays of the scene, in their order."""
        self._send({"type": "plays", "plays": plays})

    def moves(self, moves: list[list[str]]) -> None:
        """Report what some plays animate, in their order."""
        self._send({"type": "moves", "moves": moves})

    def pictures(self, pictures: list[Picture]) -> None:
        """Report pictures that were sent to the encoder, in their order."""
        self._send({"type": "pictures", "pictures": pictures})

    def findings(self, findings: list[Finding]) -> None:
        """Report faults of what the scene shows."""
        for found in findings:  # each may be long
            self._send({"type": "findings", "findings": [found]})

    def params(self, params: list[Param]) -> None:
        """Report parameters that the scene declares, in their order."""
        for declared in params:  # each may be long
            self._send({"type": "params", "params": [declared]})

    def place(self, text: str, line: int = 0, play: int | None = None) -> None:
        """Report what the scene is doing, at a line of its file and in or after a play."""
        self._send({"type": "place", "text": text, "line": line, "play": play})

    def work(self, times: WorkTimes) -> None:
        """Report what the scene spent its time on."""
        self._send({"type": "work", "ms": times})

    def output(self, text: str) -> None:
        """Report printed text.

        The first texts at once, so that they are not lost if this process dies; then together with others,
        before the next progress or end.
        """
        with self._lock:
            self._output.append(text)
            self._outputs += 1
            if self._outputs <= _OUTPUTS_AT_ONCE or sum(map(len, self._output)) >= OUTPUT_CHARACTERS_MAX // 2:
                self.flush_output()

    def flush_output(self) -> None:
        """Send the text of `output`."""
        with self._lock:
            text, self._output = "".join(self._output), []
            for start in range(0, len(text), OUTPUT_CHARACTERS_MAX):
                self._send({"type": "output", "text": text[start : start + OUTPUT_CHARACTERS_MAX]})

    def done(self) -> None:
        """Report that the scene has ended and everything was sent to the encoder."""
        self.flush_output()
        self._send({"type": "done"})

    def encoded(self, frames: int, fps: int, copied_frames: int) -> None:
        """Report that the files are in the encoder's folder."""
        self._send(
            {"type": "encoded", "frames": frames, "seconds": frames / fps, "copiedFrames": copied_frames}
        )

    def scenes(self, names: list[str]) -> None:
        """Report which scenes the source defines."""
        self.flush_output()
        self._send({"type": "scenes", "names": names})

    def checked(self, frames: int, fps: int, *, reads_pixels: bool) -> None:
        """Report that a scene would be rendered without an error."""
        self.flush_output()
        seconds = frames / fps
        self._send({"type": "checked", "frames": frames, "seconds": seconds, "readsPixels": reads_pixels})

    def read(self, findings: list[Finding]) -> None:
        """Report what a render of the source would fail on; the first ones, if they are too long together."""
        while findings and len(encode_line({"type": "read", "findings": findings})) > _READ_BYTES_MAX:
            findings = findings[:-1]
        self._send({"type": "read", "findings": findings})

    def failed(self, failure: Failure) -> None:
        """Report why there is no result."""
        self.flush_output()
        self._send(
            {
                "type": "failed",
                "error": failure.error,
                "failedBy": failure.failed_by,
                "finding": failure.finding,
            }
        )

    def _send(self, message: JobReport) -> None:
        with self._lock:
            self._socket.sendall(encode_line(message))
