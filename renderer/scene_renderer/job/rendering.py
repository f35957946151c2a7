"""A job that runs source: renders a scene to frames, sound and captions, checks it, or lists the scenes."""

import os
import random
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from manim import Scene
from manim.manager import Manager
from manim.renderer.cairo_renderer import CairoRenderer
from manim.utils.exceptions import EndSceneEarlyException

from ..authors import params, speech, stage
from ..messages import CheckJob, ListJob, Picture, PlayRange, RenderJob, StillPlace
from ..protocol import JobChannel
from ..scene_error import SceneError, failure_of
from ..tex import typesetting
from ..video import movie as movies
from ..video.frames import Sender
from . import (
    dry_run,
    errors,
    fonts,
    hints,
    output,
    part,
    placing,
    scene,
    scene_folder,
    settings,
    still,
    studio,
)
from .capture import CaptureRenderer
from .inspecting import InspectingRenderer
from .timeline import Timeline
from .whereabouts import Whereabouts
from .work_times import stopwatch

# How long a thread may keep others from running Python. The encoder needs it several times for each frame,
# and would wait five milliseconds each time while the scene computes.
_SWITCH_INTERVAL_S = 0.0005
# CPU time of each process; the kernel sends SIGXCPU to one that exceeds it.
_LIST_CPU_SECONDS_MAX = 5


def render(
    job: RenderJob | CheckJob | ListJob,
    folder: Path,
    channel: JobChannel,
    frames: socket.socket | None = None,
) -> None:
    """Render the job's scene to an encoder, check it, or list the scenes; report the outcome."""
    process = os.getpid()
    if (file := _file_of(job)) is not None:
        scene_folder.choose(file)
    output.capture(channel, folder)
    timeline = Timeline(scene_folder.source_path(folder))
    try:
        report = _run(job, folder, channel, Sender(frames), timeline)
    except BaseException as error:  # also SystemExit etc., which the scene raised
        failure = errors.describe(
            error,
            scene.text_of(job),
            folder,
            disk_bytes=job.limits.disk_bytes,
            complete=hints.complete,
            play=timeline.play,
        )
        report = partial(channel.failed, failure)
    output.finish()
    if os.getpid() != process:
        return  # a child that the scene has forked
    if not isinstance(job, ListJob):
        channel.work(stopwatch.times())
    if isinstance(job, CheckJob) or (isinstance(job, RenderJob) and job.inspect is not None):
        channel.params(params.declared())
    report()


def _file_of(job: RenderJob | CheckJob | ListJob) -> str | None:
    if isinstance(job, ListJob):
        return job.file
    return None if job.local is None else job.local.file


def _run(
    job: RenderJob | CheckJob | ListJob,
    folder: Path,
    channel: JobChannel,
    sender: Sender,
    timeline: Timeline,
) -> Callable[[], None]:
    """Do a job, and return what reports its success."""
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
    if not isinstance(job, ListJob):
        params.give(job.params)
        ask = speech.estimate if isinstance(job, CheckJob) else channel.speech
        speech.offer(ask if job.has_speech else None)
    studio.open_to_scenes()
    scene_folder.open_to_scene(folder)
    if (files := scene_folder.files()) is not None:
        fonts.register(files)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    is_tex_held = not isinstance(job, ListJob) and job.is_tex_held
    typesetting.begin_job(partial(_end_without_tex, channel, os.getpid()) if is_tex_held else None)
    stopwatch.start()
    whereabouts = Whereabouts(channel, folder)
    whereabouts.start()
    if isinstance(job, ListJob):
        limit = (_LIST_CPU_SECONDS_MAX, _LIST_CPU_SECONDS_MAX + 1)
        resource.setrlimit(resource.RLIMIT_CPU, limit)
        return partial(channel.scenes, scene.names(scene.source_of(job), folder))
    if isinstance(job, CheckJob):
        dry_run.limit_time(job.cpu_seconds)
    scene_class = scene.load(scene.source_of(job), job.class_name, folder)
    channel.stage("rendering")
    whereabouts.follow(timeline)
    job = settings.as_set_by_scene(job)
    try:
        playing = scene_class()
        stage.enter(playing)
        if isinstance(job, CheckJob):
            report = _check(playing, job, channel, timeline)
        elif job.still is not None:
            report = _draw_still(playing, job, job.still, channel, sender, timeline)
        elif job.inspect is not None:
            report = _inspect(playing, job, job.inspect, channel, sender, timeline)
        else:
            report = _render(playing, job, channel, sender, timeline, whereabouts)
    except TypeError as error:
        scene.explain_call(scene_class, error, folder)
        raise
    for plays in timeline.reports():
        channel.plays(plays)
    return report


def _draw_still(
    playing: Scene, job: RenderJob, place: StillPlace, channel: JobChannel, sender: Sender, timeline: Timeline
) -> Callable[[], None]:
    renderer = still.StillRenderer(_plain_renderer(playing), job, timeline, place)
    dry_run.skip_frames()
    with suppress(EndSceneEarlyException):  # which Manim expects in `construct` only
        _play(playing, renderer)
    movie = movies.create_still(job, channel, sender)
    movie.save(renderer.picture(playing))
    channel.stage("finishing")
    movie.finish(None, [])
    return channel.done


def _inspect(
    playing: Scene,
    job: RenderJob,
    height_px: int,
    channel: JobChannel,
    sender: Sender,
    timeline: Timeline,
) -> Callable[[], None]:
    timeline.name_moves()
    movie = movies.create_pictures(job, channel, sender)
    pictures: list[Picture] = []

    def keep(pixels: movies.Pixels, *, play: int, line: int, seconds: float) -> None:
        movie.write(pixels)
        pictures.append({"play": play, "line": line or None, "seconds": seconds})

    renderer = InspectingRenderer(
        _plain_renderer(playing),
        job,
        timeline,
        keep=keep,
        code=scene.text_of(job),
        height_px=height_px,
    )
    dry_run.skip_frames()
    _play(playing, renderer)
    channel.stage("finishing")
    movie.finish(None, [])
    for moves in timeline.moves():
        channel.moves(moves)
    channel.pictures(pictures)
    channel.findings(renderer.findings())
    if renderer.failure is not None:
        kind = type(renderer.failure).__name__
        print(f"The layout could not be judged any further ({kind}: {renderer.failure}).", file=sys.stderr)
    frames = renderer.file_writer.movie.frames or job.fps
    return partial(channel.checked, frames, job.fps, reads_pixels=renderer.are_pixels_read)


def _render(
    playing: Scene,
    job: RenderJob,
    channel: JobChannel,
    sender: Sender,
    timeline: Timeline,
    whereabouts: Whereabouts,
) -> Callable[[], None]:
    movie = movies.create(job, channel, sender)
    if job.part is None:
        renderer = CaptureRenderer(_plain_renderer(playing), movie, job, timeline)
        _play(playing, renderer)
    else:
        renderer = _play_part(playing, job, job.part, movie, timeline)
    # If nothing was played, or all was skipped, show the picture for one second.
    if movie.frames == 0 and not isinstance(movie, movies.Still):
        renderer.static_image = None
        renderer.update_frame(playing)
        movie.write(renderer.get_frame(), repeat=job.fps)
    placing.place(job.audio, renderer.file_writer, job.fps)
    channel.progress(movie.frames, movie.frames / job.fps, is_whole=True)
    channel.stage("finishing")
    whereabouts.end()
    with stopwatch.during("encode"):
        writer = renderer.file_writer
        cues = writer.cues()
        if job.part is not None:
            cues = part.cut(cues, writer.before / job.fps, movie.frames / job.fps)
        movie.finish(writer.sound(), cues, writer.before)
    return channel.done


def _play_part(
    playing: Scene, job: RenderJob, plays: PlayRange, movie: movies.Movie, timeline: Timeline
) -> CaptureRenderer:
    """Play a scene up to the end of a part. Return the renderer that has drawn it."""
    lead = part.LeadRenderer(_plain_renderer(playing), movie, job, timeline, plays)
    dry_run.skip_frames()
    with suppress(EndSceneEarlyException):  # which Manim expects in `construct` only
        _play(playing, lead)
    return lead.ended()


def _check(playing: Scene, job: CheckJob, channel: JobChannel, timeline: Timeline) -> Callable[[], None]:
    renderer = dry_run.DryRenderer(_plain_renderer(playing), job, timeline)
    dry_run.skip_frames()
    _play(playing, renderer)
    placing.place(job.audio, renderer.file_writer, job.fps)
    frames = renderer.file_writer.movie.frames or job.fps
    return partial(channel.checked, frames, job.fps, reads_pixels=renderer.are_pixels_read)


def _end_without_tex(channel: JobChannel, process: int) -> None:
    """End a render that needs TeX, at once: no `except` of the scene may go on without the formula."""
    error = SceneError("TeX: it is being changed on this machine.", "tex")
    if os.getpid() != process:
        raise error
    channel.failed(failure_of(error))
    os._exit(0)


def _plain_renderer(playing: Scene) -> CairoRenderer:
    if not isinstance(playing.renderer, CairoRenderer):
        name = type(playing.renderer).__name__
        message = f"The scene uses {name}. {hints.NO_OPENGL}"
        raise SceneError(message, kind="scene:unsupported")
    return playing.renderer


def _play(playing: Scene, renderer: CaptureRenderer) -> None:
    playing.renderer = renderer
    Manager(playing)
    playing.render()
