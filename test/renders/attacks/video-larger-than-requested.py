"""Success: a 4K video is published at the price of low quality.

Outcome: failed: 3840 by 2160 pixels, but 854 by 480
Level: reduced
"""

import av, numpy
from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with av.open("video.mp4", "w", options={"movflags": "+faststart"}) as container:
                stream = container.add_stream("libx264", rate=15, options={"preset": "ultrafast"})
                stream.width, stream.height, stream.pix_fmt = 3840, 2160, "yuv420p"
                frame = av.VideoFrame.from_ndarray(numpy.zeros((2160, 3840, 3), numpy.uint8), format="rgb24")
                for packet in (*stream.encode(frame), *stream.encode(None)):
                    container.mux(packet)
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
