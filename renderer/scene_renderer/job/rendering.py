"""A render job: renders source to frames, sound and captions, or lists its scenes."""

import os
import random
import resource
import socket
import sys
from functools import partial
from pathlib import Path

import numpy as np
from manim import Scene
from manim.manager import Manager
from manim.renderer.cairo_renderer import CairoRenderer

from ..messages import ListJob, RenderJob
from ..protocol import JobChannel
from ..scene_error import SceneError
from ..tex import typesetting
from ..video import movie as movies
from ..video.frames import Sender
from . import errors, hints, output, scene, scene_folder, settings, studio
from .capture import CaptureRenderer
from .timeline import Timeline
from .whereabouts import Whereabouts
from .work_times import stopwatch

# How long a thread may keep others from running Python. The encoder needs it several times for each frame,
# and would wait five milliseconds each time while the scene computes.
_SWITCH_INTERVAL_S = 0.0005
# CPU time of each process; the kernel sends SIGXCPU to one that exceeds it.
_LIST_CPU_SECONDS_MAX = 5


def render(
    job: RenderJob | ListJob, folder: Path, channel: JobChannel, frames: socket.socket | None = None
) -> None:
    """Render the job's scene to an encoder, if one is connected, or list the scenes; report the outcome."""
    process = os.getpid()
    output.capture(channel, folder)
    try:
        names = _render(job, folder, channel, Sender(frames))
    except BaseException as error:  # also SystemExit etc., which the scene raised
        text, fault = errors.describe(
            error, scene.text_of(job), folder, disk_bytes=job.limits.disk_bytes, complete=hints.complete
        )
        if os.getpid() == process:
            channel.work(stopwatch.times())
            output.finish()
            channel.failed(text, fault)
        return
    output.finish()
    if os.getpid() != process:
        return  # a child that the scene has forked
    if names is not None:
        channel.scenes(names)
    else:
        channel.work(stopwatch.times())
        channel.done()


def _render(job: RenderJob | ListJob, folder: Path, channel: JobChannel, sender: Sender) -> list[str] | None:
    """Render a scene; or return the names of the scenes, if they are asked for."""
    if job.fps > job.limits.frames:
        raise SceneError(
            f"One second at {job.fps} frames per second is more than the {job.limits.frames} frames "
            "that a video may have.",
            "limit:frames",
        )
    channel.stage("loading")
    # All forks inherit the same random state.
    random.seed()
    np.random.seed()
    settings.fix(job)
    studio.open_to_scenes()
    scene_folder.open_to_scene(folder)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    is_tex_held = isinstance(job, RenderJob) and job.is_tex_held
    typesetting.begin_job(partial(_end_without_tex, channel, os.getpid()) if is_tex_held else None)
    stopwatch.start()
    whereabouts = Whereabouts(channel, folder)
    whereabouts.start()
    if isinstance(job, ListJob):
        limit = (_LIST_CPU_SECONDS_MAX, _LIST_CPU_SECONDS_MAX + 1)
        resource.setrlimit(resource.RLIMIT_CPU, limit)
        return scene.names(scene.source_of(job), folder)
    scene_class = scene.load(scene.source_of(job), job.class_name, folder)
    channel.stage("rendering")
    job = settings.as_set_by_scene(job)
    movie = movies.create(job, channel, sender)
    timeline = Timeline(scene_folder.source_path(folder))
    whereabouts.follow(timeline)
    try:
        renderer = _play(scene_class(), movie, job, timeline)
    except TypeError as error:
        scene.explain_call(scene_class, error, folder)
        raise
    channel.stage("finishing")
    whereabouts.end()
    with stopwatch.during("encode"):
        movie.finish(renderer.file_writer.sound(), renderer.file_writer.cues())
    for plays in timeline.reports():
        channel.plays(plays)
    return None


def _end_without_tex(channel: JobChannel, process: int) -> None:
    """End a render that needs TeX, at once: no `except` of the scene may go on without the formula."""
    error = "TeX: it is being changed on this machine."
    if os.getpid() != process:
        raise SceneError(error, "tex")
    channel.failed(error, "tex")
    os._exit(0)


def _play(
    playing: Scene,
    movie: movies.Movie,
    job: RenderJob,
    timeline: Timeline,
) -> CaptureRenderer:
    plain = playing.renderer
    if not isinstance(plain, CairoRenderer):
        raise SceneError(f"The scene uses {type(plain).__name__}. {hints.NO_OPENGL}")
    renderer = CaptureRenderer(plain, movie, job, timeline)
    playing.renderer = renderer
    Manager(playing)
    playing.render()
    # If nothing was played, or all was skipped, show the picture for one second.
    if movie.frames == 0 and not isinstance(movie, movies.Still):
        renderer.static_image = None
        renderer.update_frame(playing)
        movie.write(renderer.get_frame(), repeat=job.fps)
    return renderer
