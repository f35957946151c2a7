"""What is made of the steps of a scene: an HTML file that works offline, a PDF, and chapters."""

import base64
import html
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
from PIL import Image

from ..scene_error import SceneError
from ..video.frames import Form, Frame, Section
from . import mp4
from .picture import Shown
from .sound import Track

STEPS_MAX = 200
# Next to it in the folder, and written before; captions only if there are some.
_VIDEO = "video.mp4"
_CAPTIONS = "captions.vtt"
_TEMPLATE = Path(__file__).with_name("slides.html").read_text(encoding="utf-8")
_JPEG_QUALITY = 90
_SLIDE = "presentation."
# What Manim calls the section with which a scene begins.
_UNNAMED = "autocreated"
_LOOPS = ("presentation.loop", "presentation.complete_loop")
_SKIPS = ("presentation.skip", "presentation.complete_loop")
# Divisible by 3, so that the parts of a text in base64 can be joined.
_PART_BYTES = 3 << 18


@dataclass
class _Step:
    name: str
    kind: str
    notes: str
    start: int  # frames
    end: int  # the last one


class Presentation:
    """The steps of a scene: its slides or sections; or its plays, if it has one section."""

    size_bytes = 0

    def __init__(self, form: Form, title: str) -> None:
        self.form = form
        self.title = title
        self._frames = 0
        self._section: Section | None = None
        self._sections: list[tuple[Section, int]] = []
        self._plays: list[int] = []

    def begin(self, section: Section) -> None:
        """Begin a section with the next frame."""
        self._section = section

    def show(self, _: Shown, frame: Frame) -> None:
        """Note what begins with a picture."""
        if self._section is not None:
            self._sections.append((self._section, self._frames))
            self._section = None
        if frame.begins_play or not self._plays:
            self._plays.append(self._frames)
        self._frames += frame.count

    def finish(self) -> None:
        """Do nothing: all is made of the video."""

    def sections(self) -> list[_Step]:
        """Return the sections in their order; the first one begins the video."""
        texts = [
            (_name(one, number), one.kind, one.notes) for number, (one, _) in enumerate(self._sections, 1)
        ]
        return self._steps(texts, [0, *(start for _, start in self._sections[1:])])

    def steps(self) -> list[_Step]:
        """Return the steps in their order. Raises SceneError if there are too many."""
        if len(self._sections) > 1 or any(one.kind.startswith(_SLIDE) for one, _ in self._sections):
            return self.sections()
        texts = [(f"play {number}", "", "") for number in range(1, len(self._plays) + 1)]
        return self._steps(texts, self._plays)

    def _steps(self, texts: list[tuple[str, str, str]], starts: list[int]) -> list[_Step]:
        if len(texts) > STEPS_MAX:
            raise SceneError(f"A presentation can't have more than {STEPS_MAX} steps.")
        ends = [start - 1 for start in starts[1:]] + [self._frames - 1]
        return [_Step(*text, start, end) for text, start, end in zip(texts, starts, ends, strict=True)]


class SlidesPage(Presentation):
    """An HTML file with the video, which is played step by step."""

    def write(self, path: Path, _: Track) -> None:
        """Write the file."""
        video, steps, captions = path.with_name(_VIDEO), self.steps(), path.with_name(_CAPTIONS)
        stills = _stills(video, [0, *(step.end for step in steps)])
        about = {
            "fps": self.form.fps,
            "captions": captions.read_text(encoding="utf-8") if captions.exists() else "",
            "first": _data_url(stills[0]),
            "steps": [_described(step, stills[step.end]) for step in steps],
        }
        # Nothing in it ends the script in which it stands.
        data = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
        title, rest = _TEMPLATE.split("{{title}}")
        head, rest = rest.split('"{{about}}"')
        middle, tail = rest.split("{{video}}")
        with path.open("w", encoding="utf-8", errors="replace") as file:
            file.write(f"{title}{html.escape(self.title)}{head}{data}{middle}")
            with video.open("rb") as source:
                while part := source.read(_PART_BYTES):
                    file.write(base64.b64encode(part).decode("ascii"))
            file.write(tail)


class SlidesDocument(Presentation):
    """A PDF with the last picture of each step."""

    def write(self, path: Path, _: Track) -> None:
        """Write the file."""
        ends = [step.end for step in self.steps()]
        stills = _stills(path.with_name(_VIDEO), ends)
        with path.open("wb") as file:
            for part in _pdf([stills[end] for end in ends], self.form.width_px, self.form.height_px):
                file.write(part)


class ChapteredVideo(Presentation):
    """The video again, with the sections as chapters: the one of the contract has none."""

    def write(self, path: Path, _: Track) -> None:
        """Write the file: its packets are those of the video."""
        chapters: list[av.container.Chapter] = [
            {
                "id": number,
                "start": section.start,
                "end": section.end + 1,
                "time_base": Fraction(1, self.form.fps),
                "metadata": {"title": section.name},
            }
            for number, section in enumerate(self.sections())
        ]
        with (
            av.open(os.fspath(path.with_name(_VIDEO))) as source,
            mp4.create(path, self.form.fps) as target,
        ):
            streams = [target.add_stream_from_template(stream) for stream in source.streams]
            target.set_chapters(chapters)
            for packet in source.demux():
                if packet.dts is not None:
                    packet.stream = streams[packet.stream.index]
                    target.mux(packet)


def _name(section: Section, number: int) -> str:
    return f"step {number}" if section.name in ("", _UNNAMED) else section.name


def _described(step: _Step, still: bytes) -> dict[str, str | int | bool]:
    return {
        "name": step.name,
        "notes": step.notes,
        "start": step.start,
        "end": step.end,
        "loop": step.kind in _LOOPS,
        "autoNext": step.kind in _SKIPS,
        "still": _data_url(still),
    }


def _data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}"


def _stills(video: Path, numbers: list[int]) -> dict[int, bytes]:
    """Return some frames of a written video as JPEG, by their numbers."""
    wanted = set(numbers)
    stills = {}
    with av.open(os.fspath(video)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number in wanted:
                data = io.BytesIO()
                Image.fromarray(frame.to_ndarray(format="rgb24")).save(data, "JPEG", quality=_JPEG_QUALITY)
                stills[number] = data.getvalue()
    return stills


def _pdf(jpegs: list[bytes], width_px: int, height_px: int) -> Iterator[bytes]:
    """Yield the parts of a PDF 1.4 with a page for each JPEG, half as many points wide as it has pixels."""
    width, height = width_px / 2, height_px / 2
    pages = [f"{3 * number + 3} 0 R" for number in range(len(jpegs))]
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(pages)}] /Count {len(jpegs)} >>".encode(),
    ]
    for number, jpeg in enumerate(jpegs):
        contents, picture = 3 * number + 4, 3 * number + 5
        drawn = f"q {width:g} 0 0 {height:g} 0 0 cm /I Do Q".encode()
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:g} {height:g}] /Contents {contents} 0 R "
            f"/Resources << /XObject << /I {picture} 0 R >> >> >>".encode(),
            _stream(b"", drawn),
            _stream(
                f"/Type /XObject /Subtype /Image /Width {width_px} /Height {height_px} "
                "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode ".encode(),
                jpeg,
            ),
        ]
    at = 0
    places = []
    for part in (
        b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n",
        *(_object(number, one) for number, one in enumerate(objects, 1)),
    ):
        places.append(at)
        at += len(part)
        yield part
    table = "".join(f"{place:010} 00000 n \n" for place in places[1:])
    size = len(objects) + 1
    yield (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
        f"startxref\n{at}\n%%EOF\n"
    ).encode()


def _object(number: int, content: bytes) -> bytes:
    return b"%d 0 obj\n%s\nendobj\n" % (number, content)


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<< %s/Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)
