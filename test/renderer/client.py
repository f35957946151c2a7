"""The parts of the service's side of the renderer protocol that tests need. All messages are validated."""

import base64
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from schema import check

Message = dict[str, Any]

RENDERER = Path(__file__).parents[2] / "renderer"
TIMEOUT_S = 60.0
MADE = (
    *("video.mp4", "captions.vtt", "thumbnail.jpg", "output.webm", "output.mov", "output.gif", "output.png"),
    *("frames.tar", "sections.tar"),
    *(
        "captions.srt",
        "video.gif",
        "video.webp",
        "video.apng",
        "video.webm",
        "sound.m4a",
        "sprites.jpg",
        "sprites.vtt",
    ),
    *(
        "av1.mp4",
        "hevc.mp4",
        "last-frame.png",
        "frames.zip",
        "sections.zip",
        "slides.html",
        "slides.pdf",
        "video-chapters.mp4",
        "transparent.webm",
        "transparent.mov",
    ),
    *("transparent-frames.zip", "still-1.png", "still-2.png", "still-3.png"),
)
OUTPUT_BYTES_MAX = 528 << 20
_MATERIAL = tempfile.TemporaryDirectory()
# A folder with files that scenes can read.
MATERIAL = Path(_MATERIAL.name)
READABLE = [
    f"--read={path}"
    for path in (
        *("/usr", "/bin", "/lib", "/lib64", "/opt/texlive", "/var/lib/texmf", "/var/cache/fontconfig"),
        *("/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/texmf"),
        *(sys.prefix, sys.base_prefix, str(RENDERER)),
        _MATERIAL.name,
    )
]
# Of zygotes: they make LaTeX's formats there once.
_CACHE = tempfile.TemporaryDirectory()
LIMITS: Message = {
    "addressSpaceBytes": 4 << 30,
    "processes": 64,
    "fileSizeBytes": 1 << 30,
    "diskBytes": 1 << 30,
    "openFiles": 256,
    "frames": 36_000,
    "outputBytes": 512 << 20,
}


_DRAWING = ("isTransparent", "hasColours", "hasSections", "part", "pictures")


def render_job(code: str, name: str = "Demo", **changes: Any) -> Message:
    """A small render job; `limits` overrides limits, other arguments override fields of the job."""
    limits = LIMITS | changes.pop("limits", {})
    job = {
        "kind": "render",
        "code": code,
        "isBytes": False,
        "isTexHeld": False,
        "hasSpeech": False,
        "audio": [],
        "isTransparent": False,
        "hasColours": False,
        "hasSections": False,
        "part": None,
        "pictures": [],
        "className": name,
        "widthPx": 128,
        "heightPx": 72,
        "fps": 10,
    }
    return (
        job
        | {"local": None, "still": None, "inspect": None, "seed": None, "params": "{}", "limits": limits}
        | changes
    )


def read_job(code: str, name: str | None = "Demo") -> Message:
    """A job that reads a source."""
    return {"kind": "read", "code": code, "isBytes": False, "className": name, "limits": LIMITS}


def list_job(code: str) -> Message:
    job = render_job(code)
    for name in (
        "className",
        "local",
        "still",
        "inspect",
        "isTexHeld",
        "hasSpeech",
        "audio",
        "seed",
        "params",
        *_DRAWING,
    ):
        del job[name]
    return job | {"kind": "list", "file": None}


def check_job(code: str, name: str = "Demo", **changes: Any) -> Message:
    job = render_job(code, name)
    for name in ("still", "inspect", "seed", *_DRAWING):
        del job[name]
    return job | {"kind": "check", "cpuSeconds": 5} | changes


def encode_job(render: Message, **changes: Any) -> Message:
    """The encoding of what a render job sends."""
    names = ("className", "widthPx", "heightPx", "fps", "local", "limits")
    return (
        {"kind": "encode", "previewIntervalMs": 0, "makes": _made(render), "isIndexed": False}
        | {"formats": [], "isOther": False, "pictures": []}
        | {name: render[name] for name in names}
        | changes
    )


def _made(render: Message) -> str:
    if render["inspect"] is not None:
        return "pictures"
    return "video" if render["still"] is None else "still"


def fork_command(folder: Path | str, job: str = "job") -> Message:
    """A command to fork a job whose socket does not exist."""
    limits = {"memoryBytes": 1 << 30, "diskBytes": 1 << 30, "files": 100, "fileSizeBytes": 1 << 30}
    place: Message = {"folder": str(folder), "socket": "/none", "outputs": {}}
    frames: Message = {"frames": None, "isEncoder": False, "filesFolder": None}
    return {"type": "fork", "job": job, "background": False, **frames, **place, **limits}


@dataclass
class Outcome:
    """The reports of a job, and the zygote's report of its end."""

    reports: list[Message]
    ended: Message

    @property
    def result(self) -> Message:
        """The report that decides the job."""
        kinds = ("failed", "done", "encoded", "scenes", "checked", "read")
        found = [report for report in self.reports if report["type"] in kinds]
        lengths = self.of_type("encoded") if len(found) > 1 else []
        return {**dict(*lengths), **min(reversed(found), key=lambda report: kinds.index(report["type"]))}

    @property
    def length(self) -> tuple[int, float]:
        """The frames and seconds of the video."""
        assert self.result["type"] != "failed", self.result
        return self.result["frames"], self.result["seconds"]

    @property
    def error(self) -> str:
        assert self.result["type"] == "failed", self.result
        return str(self.result["error"])

    def of_type(self, kind: str) -> list[Message]:
        return [report for report in self.reports if report["type"] == kind]


@dataclass
class Channel:
    """The service's end of a job's socket."""

    socket: socket.socket
    buffer: bytearray = field(default_factory=bytearray)
    encoding: "Encoding | None" = None

    def receive(self) -> Message | None:
        """The next report; None when the job has closed its end."""
        while b"\n" not in self.buffer:
            try:
                chunk = self.socket.recv(65_536)
            except ConnectionResetError:  # killed before it read its work
                return None
            if not chunk:
                return None
            self.buffer += chunk
        line, _, rest = bytes(self.buffer).partition(b"\n")
        self.buffer = bytearray(rest)
        message: Message = json.loads(line)
        check("JobReport", message)
        return message

    def answer(self, audio: bytes | None, *words: Message, error: str | None = None) -> None:
        """Answer a request for the audio of a text."""
        text = None if audio is None else base64.b64encode(audio).decode()
        message: Message = {"type": "spoken", "audio": text, "words": [*words], "error": error}
        check("SpeechAnswer", message)
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def wait_for(self, **wanted: Any) -> Message:
        while (report := self.receive()) is not None:
            if wanted.items() <= report.items():
                return report
        raise AssertionError(f"the job ended without reporting {wanted}")


@dataclass
class Encoding:
    """The encoder of a render. Its files are moved to the folder of the render at the end."""

    zygote: "Zygote"
    folder: Path
    target: Path
    channel: Channel

    def finish(self) -> list[Message]:
        """Wait for its end; return its reports. The render has ended."""
        with suppress(BrokenPipeError):  # it has refused the video
            self.channel.socket.sendall(b'{"type":"renderEnded"}\n')
        outcome = self.zygote.finish(self.channel)
        for file in self.folder.iterdir():
            file.rename(self.target / file.name)
        self.folder.rmdir()
        return outcome.reports

    def abandon(self) -> None:
        """End it, because its render was not waited for."""
        self.zygote.send({"type": "kill", "job": "job"})
        self.zygote.finish(self.channel)


class Zygote:
    """A zygote, of renders or of encodings, and the commands that it accepts."""

    def __init__(
        self,
        *options: str,
        wrapper: Sequence[str] = (),
        module: str = "scene_renderer",
        environment: Mapping[str, str] | None = None,
        kind: str = "zygote",
        also_leaves: Sequence[str] = (),
    ) -> None:
        self._options = options
        self._also_leaves = also_leaves
        self._encoding: Encoding | None = None
        self.environment = {"XDG_CACHE_HOME": _CACHE.name} | dict(environment or {})
        command = [sys.executable, "-s", "-P", "-B", "-m", module, kind, *READABLE, *options]
        self.process = subprocess.Popen(
            [*wrapper, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(RENDERER),
                "PYTHONHASHSEED": "0",
                "OPENBLAS_NUM_THREADS": "1",
                **self.environment,
            },
        )
        assert self.process.stdin
        assert self.process.stdout
        self._stdin = self.process.stdin
        self._stdout = self.process.stdout.fileno()
        self._buffer = bytearray()
        self.ready = self.receive()

    def send(self, message: Message | bytes) -> None:
        """Send a command; bytes are sent as they are."""
        if not isinstance(message, bytes):
            check("ZygoteCommand", message)
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._stdin.write(line + b"\n")
        self._stdin.flush()

    def receive(self) -> Message:
        deadline = time.monotonic() + TIMEOUT_S
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self._stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, "the zygote does not respond"
            chunk = os.read(self._stdout, 65_536)
            assert chunk, f"the zygote has ended: {self.process.wait()}"
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        message: Message = json.loads(line)
        check("ZygoteReport", message)
        return message

    @cached_property
    def encoder(self) -> "Zygote":
        """The zygote whose forks encode the renders of this one."""
        return Zygote(kind="encoder")

    @cached_property
    def reader(self) -> "Zygote":
        """The zygote whose forks read sources, as in the service: those of others prepare first."""
        return Zygote("--reader", *self._options)

    def start(
        self,
        folder: Path,
        job: Message,
        *,
        frames: str | None = None,
        encode: Message | None = None,
        job_files: Path | None = None,
        **limits: int,
    ) -> Channel:
        """Fork a job named ``job`` and hand it its work.

        `frames`: the path of a socket that takes the frames of a render; else an encoder takes them, whose
        job has the fields of `encode`. `job_files`: their folder. `limits`: `memory_bytes`,
        `disk_bytes`, `files`.
        """
        check("RendererJob", job)
        encoding = None
        if job["kind"] == "render" and frames is None:
            if self._encoding:
                self._encoding.abandon()
            made = Path(tempfile.mkdtemp())
            frames = f"{made}/frames"
            channel = self.encoder.start(made, encode_job(job, **(encode or {})), frames=frames)
            encoding = self._encoding = Encoding(self.encoder, made, folder, channel)
        outputs = MADE if job["kind"] == "encode" else self._also_leaves
        with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
            path = f"{place}/job.sock"
            listener.bind(path)
            listener.listen(1)
            listener.settimeout(TIMEOUT_S)
            self.send(
                {
                    "type": "fork",
                    "job": "job",
                    "folder": str(folder),
                    "socket": path,
                    "frames": frames,
                    "isEncoder": job["kind"] == "encode",
                    "filesFolder": None if job_files is None else str(job_files),
                    "memoryBytes": limits.get("memory_bytes", 2 << 30),
                    "diskBytes": limits.get("disk_bytes", 1 << 30),
                    "files": limits.get("files", 20_000),
                    "fileSizeBytes": 1 << 30,
                    "outputs": dict.fromkeys(outputs, OUTPUT_BYTES_MAX),
                    "background": False,
                }
            )
            connection, _ = listener.accept()
        connection.settimeout(TIMEOUT_S)
        connection.sendall(json.dumps(job).encode() + b"\n")
        return Channel(connection, encoding=encoding)

    def finish(self, channel: Channel) -> Outcome:
        """Collect the reports and wait for the job's end."""
        reports = []
        with channel.socket:
            while (report := channel.receive()) is not None:
                reports.append(report)
        ended = self.receive()
        assert ended["type"] == "ended"
        if channel.encoding:
            self._encoding = None
            reports += channel.encoding.finish()
        return Outcome(reports, ended)

    def run(self, folder: Path, job: Message, **options: Any) -> Outcome:
        """Start a job and wait for its end; `options`: as those of `start`."""
        if job["kind"] == "read" and "--reader" not in self._options:
            return self.reader.run(folder, job, **options)
        return self.finish(self.start(folder, job, **options))

    def forked_ahead(self) -> int:
        """Wait until the next job is forked ahead; return its outer process."""
        if "namespaces" not in self.ready["layers"]:
            pytest.skip("only where jobs are isolated")
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            pids = children(self.process.pid)
            if [name_of(pid) for pid in pids] == ["waiting"] and len(children(pids[0])) == 2:
                return pids[0]
            time.sleep(0.01)
        raise AssertionError("no job was forked ahead")

    def await_idle(self) -> None:
        """Wait until no process of a job is left: those of a streamed one are killed when it has finished."""
        deadline = time.monotonic() + TIMEOUT_S
        while left := jobs(self.process.pid):
            assert time.monotonic() < deadline, left
            time.sleep(0.01)

    def close(self) -> int:
        for name in ("encoder", "reader"):
            if name in vars(self):
                vars(self)[name].close()
        self._stdin.close()
        return self.process.wait(TIMEOUT_S)


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def jobs(zygote: int) -> list[int]:
    """The outer processes of a zygote's jobs, without the one that waits for the next job."""
    return [pid for pid in children(zygote) if name_of(pid) != "waiting"]


def name_of(pid: int) -> str | None:
    """The name of a process; None if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return None


def latex_servers() -> list[int]:
    """The LaTeX servers of this process; it has other children, as the zygotes of other tests."""
    return [pid for pid in children(os.getpid()) if b"served-" in Path(f"/proc/{pid}/cmdline").read_bytes()]
