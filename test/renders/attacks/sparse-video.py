"""Success: a sparse file of enormous size is read or stored.

Outcome: failed: larger than the limit
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with open("video.mp4", "r+b") as video:
                video.truncate(800 << 20)
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
