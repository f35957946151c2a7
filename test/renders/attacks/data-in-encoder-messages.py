"""Success: arbitrary text in the encoder's messages is published with the video.

Outcome: completed
Level: reduced
"""


class Attack(Scene):
    def construct(self):
        hidden = TARGETS["marker"].encode()

        def change(number, data):
            place = data.find(b"x264 - core")
            return data if place < 0 else data[:place] + hidden + data[place + len(hidden) :]

        def act():
            write_again(change)
            assert hidden in open("video.mp4", "rb").read()

        before_done(act)
