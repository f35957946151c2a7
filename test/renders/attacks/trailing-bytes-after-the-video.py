"""Success: a file of another type is published after the end of the video.

Outcome: failed: The file contains data after the video
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with open("video.mp4", "ab") as file:
                file.write(f"PK {TARGETS['marker']}".encode())
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
