"""Success: the service writes its thumbnail through a link that the job created.

Outcome: completed
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            os.symlink(TARGETS["files"][0], "thumbnail.jpg")
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
