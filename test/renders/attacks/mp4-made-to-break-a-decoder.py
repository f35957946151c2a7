"""Success: a damaged video breaks the process that checks it, or is published.

Outcome: failed: video
Level: reduced
"""

from scene_renderer import protocol


class Attack(Scene):
    def construct(self):
        def leave(channel, *claims):
            with open("video.mp4", "r+b") as file:
                data = bytearray(file.read())
                for position in range(200, len(data), 7):
                    data[position] ^= 0xA5
                file.seek(0)
                file.write(data)
            return done(channel, *claims)

        done, protocol.JobChannel.done = protocol.JobChannel.done, leave
