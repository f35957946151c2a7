"""Success: a file with a second name, which the job keeps, is published.

Outcome: failed: left no video
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            refused(os.link, "/usr/bin/env", "linked")
            os.link("video.mp4", "kept")
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
