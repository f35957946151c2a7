"""Success: arbitrary text in the encoder's messages is published with the video.

Outcome: completed
Level: full
"""


class Attack(Scene):
    def construct(self):
        hidden = TARGETS["marker"].encode()

        def change(number, data):
            place = data.find(b"x264 - core")
            assert number or place > 0
            return data if place < 0 else data[:place] + hidden + data[place + len(hidden) :]

        send_other_pictures(change)
        self.play(Create(Square()))
