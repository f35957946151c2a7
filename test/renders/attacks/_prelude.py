"""Inserted before every attack: its targets, and helpers that raise `Through` if it succeeds."""

import ctypes
import os
import stat

from manim import *

TARGETS: dict
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class Through(Exception): ...


def refused(call, *values, also=OSError, **options):
    """Call a function that must raise OSError."""
    try:
        result = call(*values, **options)
    except (OSError, also):
        return
    raise Through(call, values, result)


def see_only(folder, *names):
    """List a folder, which may fail; it may contain only the given names."""
    try:
        found = set(os.listdir(folder)) - set(names)
    except OSError:
        return
    if found:
        raise Through(found)


def failed(result, name):
    """Check the result of a system call, which must be -1."""
    if result != -1:
        raise Through(name, result)


def channel_descriptor():
    """The job's socket for reports, which is connected after the one for frames."""
    return [number for number in range(3, 256) if is_socket(number)][-1]


def is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:  # It is not open.
        return False


def sender():
    """The renderer's own end of the connection over which the frames are sent."""
    import gc
    from scene_renderer.video.frames import Sender

    return next(found for found in gc.get_objects() if isinstance(found, Sender))
