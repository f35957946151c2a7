"""A job that reads a source without running it."""

import os
import resource
from pathlib import Path

from .. import reading
from ..messages import Finding, Param, ReadJob
from ..protocol import JobChannel
from . import scene, scene_folder, studio

_CPU_SECONDS_MAX = 2
_MESSAGE_CHARACTERS_MAX = 600


def read(job: ReadJob, folder: Path, channel: JobChannel) -> None:
    """Read the job's source, and report what a render would fail on; nothing, if that can't be told."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS_MAX, _CPU_SECONDS_MAX + 1))
    # Only to look up which modules and files are there.
    studio.open_to_scenes()
    scene_folder.open_to_scene(folder)
    os.chdir(folder)
    channel.params(declared_in(job))
    channel.read(findings(job))


def declared_in(job: ReadJob) -> list[Param]:
    """Return the parameters that a job's source declares."""
    try:
        return reading.declared_in(scene.text_of(job))
    except Exception:  # as below
        return []


def findings(job: ReadJob) -> list[Finding]:
    """Return what is wrong with a job's source."""
    try:
        found = reading.find(scene.text_of(job), job.class_name, is_local=scene_folder.folder() is not None)
    except Exception:  # a mistake of this program must not look like one of the author
        return []
    for one in found:
        one["message"] = one["message"][:_MESSAGE_CHARACTERS_MAX]
    return found
