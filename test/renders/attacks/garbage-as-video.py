"""Success: a file that is not a video is published.

Outcome: failed: The video
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with open("video.mp4", "wb") as file:
                file.write(os.urandom(100_000))
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
