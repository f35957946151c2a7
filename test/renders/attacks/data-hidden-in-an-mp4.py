"""Success: a comment that says anything is published with the video.

Outcome: failed: The video's file isn't as the renderer writes it
"""

import av
from scene_renderer import protocol


def copied(options, names, change):
    """Write the video again, with other options, names and packets."""
    os.rename("video.mp4", "original.mp4")
    with av.open("original.mp4") as source, av.open("video.mp4", "w", options=options) as container:
        stream = container.add_stream_from_template(source.streams.video[0])
        container.metadata.update(names)
        stream.metadata.update(names)
        for number, packet in enumerate(source.demux(0)):
            if packet.size:
                fresh = av.Packet(change(number, bytes(packet)))
                fresh.pts, fresh.dts, fresh.time_base = packet.pts, packet.dts, packet.time_base
                fresh.duration, fresh.is_keyframe, fresh.stream = packet.duration, packet.is_keyframe, stream
                container.mux(fresh)


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            hidden = TARGETS["marker"].encode()
            options = {"movflags": "+faststart+use_metadata_tags"}
            copied(options, {"comment": TARGETS["marker"] * 20}, lambda number, data: data)
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
