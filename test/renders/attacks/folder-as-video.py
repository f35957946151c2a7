"""Success: a folder at the video's path breaks the service.

Outcome: failed: left no video
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            os.remove("video.mp4")
            os.mkdir("video.mp4")
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
