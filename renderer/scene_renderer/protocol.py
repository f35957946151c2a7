"""The messages between service, zygote and job: JSON, one object per line.

Names contain units; the names on the wire are the field names in camel case.
"""

import base64
import json
import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

ERROR_BYTES_MAX = 4096
PREVIEW_BYTES_MAX = 65_536
_JOB_BYTES_MAX = 4_194_304
_PROGRESS_INTERVAL_S = 0.1


@dataclass(frozen=True)
class Fork:
    """The service's request to fork a job: its folder, its socket and its total limits.

    `memory_bytes`: limit for all its processes; `disk_bytes`, `files`: limits for all its files;
    `file_size_bytes`: limit per file. `inputs`: names of the files in the folder that the job reads;
    `outputs`: maximum size by name of the files that it writes there. `background`: low CPU priority.
    """

    job: str
    folder: str
    socket: str
    memory_bytes: int
    disk_bytes: int
    files: int
    file_size_bytes: int
    inputs: tuple[str, ...]
    outputs: dict[str, int]
    background: bool


@dataclass(frozen=True)
class Limits:
    """The limits of a job. `address_space_bytes` and `file_size_bytes` are per process and file.

    `disk_bytes` is only used in the error message when the job's own file system is full.
    """

    address_space_bytes: int
    processes: int
    file_size_bytes: int
    disk_bytes: int
    open_files: int
    frames: int
    output_bytes: int


@dataclass(frozen=True)
class RenderJob:
    """One scene to render: source, class, size in pixels, frames per second.

    Without a class, the job only lists the scenes of the source.
    """

    code: str
    class_name: str | None
    width_px: int
    height_px: int
    fps: int
    preview_interval_ms: int
    limits: Limits


@dataclass(frozen=True)
class InspectJob:
    """A video to decode and to create a thumbnail of, with its required properties."""

    width_px: int
    height_px: int
    fps: int
    limits: Limits


def parse_fork(message: dict[str, Any]) -> Fork:
    """Parse a fork request. Raises KeyError, TypeError or ValueError if it is invalid."""
    return Fork(
        job=str(message["job"]),
        folder=str(message["folder"]),
        socket=str(message["socket"]),
        memory_bytes=int(message["memoryBytes"]),
        disk_bytes=int(message["diskBytes"]),
        files=int(message["files"]),
        file_size_bytes=int(message["fileSizeBytes"]),
        inputs=tuple(str(name) for name in message["inputs"]),
        outputs={str(name): int(size) for name, size in message["outputs"].items()},
        background=bool(message["background"]),
    )


def parse_job(line: bytes) -> RenderJob | InspectJob:
    """Parse a job. Raises KeyError, TypeError or ValueError if it is invalid."""
    message = json.loads(line)
    limits = message["limits"]
    parsed = Limits(
        address_space_bytes=int(limits["addressSpaceBytes"]),
        processes=int(limits["processes"]),
        file_size_bytes=int(limits["fileSizeBytes"]),
        disk_bytes=int(limits["diskBytes"]),
        open_files=int(limits["openFiles"]),
        frames=int(limits["frames"]),
        output_bytes=int(limits["outputBytes"]),
    )
    width_px, height_px, fps = int(message["widthPx"]), int(message["heightPx"]), int(message["fps"])
    if message["kind"] == "inspect":
        return InspectJob(width_px, height_px, fps, parsed)
    if message["kind"] not in ("render", "list"):
        raise ValueError(f"unknown kind of job: {message['kind']!r}")
    return RenderJob(
        code=message["code"],
        class_name=message["className"] if message["kind"] == "render" else None,
        width_px=width_px,
        height_px=height_px,
        fps=fps,
        preview_interval_ms=int(message["previewIntervalMs"]),
        limits=parsed,
    )


def encode_line(message: dict[str, Any]) -> bytes:
    """Return a message as a line of ASCII: lone surrogates and control characters are escaped."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


class JobChannel:
    """The job's end of its socket. Reports may come from several threads."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Socket paths are limited to 107 bytes, so connect relative to the folder.
        folder, name = os.path.split(path)
        os.chdir(folder)
        self._socket.connect(name)
        self._lock = threading.Lock()
        self._progress_due = 0.0

    def close(self) -> None:
        """Close this process's copy of the socket."""
        self._socket.close()

    def receive(self) -> RenderJob | InspectJob:
        """Wait for the job. Raises ConnectionError if the service disconnects or the message is too long."""
        line = bytearray()
        while not line.endswith(b"\n"):
            chunk = self._socket.recv(65_536)
            line += chunk
            if not chunk or len(line) > _JOB_BYTES_MAX:
                raise ConnectionError("no job came")
        return parse_job(bytes(line))

    def stage(self, stage: Literal["loading", "rendering", "finishing"]) -> None:
        """Report the current stage of the job."""
        self._send({"type": "stage", "stage": stage})

    def progress(self, frames: int, seconds: float) -> None:
        """Report the current length of the video; dropped if the last report was recent."""
        now = time.monotonic()
        if now >= self._progress_due:
            self._progress_due = now + _PROGRESS_INTERVAL_S
            self._send({"type": "progress", "frames": frames, "seconds": seconds})

    def preview(self, jpeg: bytes) -> None:
        """Report a picture of the current frame; dropped if it is too large."""
        text = base64.b64encode(jpeg).decode("ascii")
        if len(text) <= PREVIEW_BYTES_MAX:
            self._send({"type": "preview", "jpeg": text})

    def done(self, frames: int, seconds: float, captions: bool) -> None:
        """Report that the video is in the job's folder."""
        self._send({"type": "done", "frames": frames, "seconds": seconds, "captions": captions})

    def inspected(self, frames: int, seconds: float, width_px: int, height_px: int) -> None:
        """Report the properties of the decoded video."""
        self._send(
            {
                "type": "inspected",
                "frames": frames,
                "seconds": seconds,
                "widthPx": width_px,
                "heightPx": height_px,
            }
        )

    def scenes(self, names: list[str]) -> None:
        """Report which scenes the source defines."""
        self._send({"type": "scenes", "names": names})

    def failed(self, error: str) -> None:
        """Report why there is no result."""
        self._send({"type": "failed", "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._socket.sendall(encode_line(message))
