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
    """The job's socket for reports, which is connected after the one for the video, if there is one."""
    return [number for number in range(3, 256) if is_socket(number)][-1]


def is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:  # It is not open.
        return False


def sender():
    """The renderer's own end of the connection over which the video is sent."""
    import gc
    from scene_renderer.video.stream import Sender

    return next(found for found in gc.get_objects() if isinstance(found, Sender))


def send_other_pictures(change):
    """Send other data than that of each picture, with its number."""
    import itertools
    from scene_renderer.video.stream import Sender

    numbers, send = itertools.count(), Sender._send

    def send_other(self, kind, first, second, data):
        send(self, kind, first, second, change(next(numbers), data) if kind == b"P" else data)

    Sender._send = send_other


def before_done(act):
    """Run `act` on the finished files before they are reported to the service."""
    from scene_renderer import protocol

    done = protocol.JobChannel.done

    def leave(channel, *claims):
        act()
        return done(channel, *claims)

    protocol.JobChannel.done = leave


def write_again(change=lambda number, data: data, names=(), movflags="+faststart"):
    """Write the video again with other packets, names and options."""
    import av

    os.rename("video.mp4", "original.mp4")
    options = {"movflags": movflags}
    with (
        av.open("original.mp4") as source,
        av.open("video.mp4", "w", options=options) as container,
    ):
        stream = container.add_stream_from_template(source.streams.video[0])
        container.metadata.update(names)
        stream.metadata.update(names)
        for number, packet in enumerate(source.demux(0)):
            if packet.size:
                fresh = av.Packet(change(number, bytes(packet)))
                fresh.pts, fresh.dts, fresh.time_base = (
                    packet.pts,
                    packet.dts,
                    packet.time_base,
                )
                fresh.duration, fresh.is_keyframe, fresh.stream = (
                    packet.duration,
                    packet.is_keyframe,
                    stream,
                )
                container.mux(fresh)
