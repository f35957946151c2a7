"""What the pictures of a job of a service become besides MP4."""

from pathlib import Path
from typing import TypeAlias

from ..messages import EncodeJob
from ..video.frames import Form
from . import formats
from .archives import PngArchive, SectionArchive
from .output import Output
from .pictures import Still
from .presentation import ChapteredVideo, SlidesDocument, SlidesPage
from .small import SmallGif, SmallVideo
from .sprites import Sprites
from .video_file import VideoFile

# By the name of the file; some write another beside it.
Outputs: TypeAlias = dict[str, Output]

# What an error calls an output.
NOUNS = {
    "video.mp4": "video",
    "video.gif": "GIF",
    "video.webp": "animated WebP",
    "video.apng": "animated PNG",
    "video.webm": "WebM video",
    "av1.mp4": "AV1 video",
    "hevc.mp4": "HEVC video",
    "sprites.jpg": "sheet of small pictures",
    "last-frame.png": "picture of the last frame",
    "frames.zip": "archive of PNGs",
    "sections.zip": "archive of the sections",
    "slides.html": "presentation",
    "video-chapters.mp4": "video with chapters",
    "slides.pdf": "PDF of the steps",
    "transparent.webm": "transparent WebM video",
    "transparent.mov": "transparent MOV video",
    "transparent-frames.zip": "archive of transparent PNGs",
}


def outputs_of(job: EncodeJob, form: Form, folder: Path) -> Outputs:
    """Return the outputs of the formats that are made of pictures, by the names of their files."""
    outputs: Outputs = {}
    bytes_max = job.limits.output_bytes
    for name in job.formats:
        match name:
            case "gif":
                outputs["video.gif"] = SmallGif(form)
            case "webp":
                outputs["video.webp"] = SmallVideo(form, formats.WEBP)
            case "apng":
                outputs["video.apng"] = SmallVideo(form, formats.APNG)
            case "av1":
                outputs["av1.mp4"] = VideoFile(form, formats.av1(form.width_px, form.height_px))
            case "hevc":
                outputs["hevc.mp4"] = VideoFile(form, formats.HEVC)
            case "webm":
                outputs["video.webm"] = VideoFile(form, formats.WEBM)
            case "sprites":
                outputs["sprites.jpg"] = Sprites(form)
            case "last-frame":
                outputs["last-frame.png"] = Still(transparent=False)
            case "png":
                outputs["frames.zip"] = PngArchive(
                    folder, NOUNS["frames.zip"], transparent=False, bytes_max=bytes_max
                )
            case "sections":
                outputs["sections.zip"] = SectionArchive(form)
            case "slides":
                outputs["slides.html"] = SlidesPage(form, job.class_name)
            case "pdf":
                outputs["slides.pdf"] = SlidesDocument(form, job.class_name)
            case "mp4-chapters":
                outputs["video-chapters.mp4"] = ChapteredVideo(form, job.class_name)
            case "transparent-webm":
                outputs["transparent.webm"] = VideoFile(form, formats.TRANSPARENT_WEBM)
            case "mov":
                outputs["transparent.mov"] = VideoFile(form, formats.TRANSPARENT_MOV)
            case "transparent-png":
                outputs["transparent-frames.zip"] = PngArchive(
                    folder, NOUNS["transparent-frames.zip"], transparent=True, bytes_max=bytes_max
                )
            case "srt" | "m4a" | "stills":
                pass  # made of captions, sound and chosen frames
    return outputs
