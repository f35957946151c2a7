"""Stands in front of every attack: what it aims at, and how it says that it got through."""

import ctypes
import os
import stat

from manim import *

TARGETS: dict
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class Through(Exception): ...


def refused(call, *values, also=OSError, **options):
    """Call a function that has to raise OSError."""
    try:
        result = call(*values, **options)
    except (OSError, also):
        return
    raise Through(call, values, result)


def see_only(folder, *names):
    """List a folder, which may be refused; the way to the job's own folder may be seen."""
    try:
        found = set(os.listdir(folder)) - set(names)
    except OSError:
        return
    if found:
        raise Through(found)


def failed(result, name):
    """Look at what a system call has returned, which has to be -1."""
    if result != -1:
        raise Through(name, result)


def channel_descriptor():
    """The one socket that the job has: to the service."""
    return next(
        number
        for number in range(3, 256)
        if os.path.exists(f"/proc/self/fd/{number}") and stat.S_ISSOCK(os.fstat(number).st_mode)
    )
