"""Success: a name of a track that says anything is published with the video.

Outcome: completed
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
            options = {"movflags": "+faststart"}
            copied(options, {"handler_name": TARGETS["marker"][:50]}, lambda number, data: data)
            assert hidden[:40] in open("video.mp4", "rb").read()
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
