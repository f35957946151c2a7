"""Success: a frame with far more data than a frame can have is published with the video.

Outcome: failed: more to it than
Level: full
"""


class Attack(Scene):
    def construct(self):
        hidden = b"\0\0\0\1\x41" + TARGETS["marker"].encode() * 40_000
        send_other_pictures(lambda number, data: hidden if number == 1 else data)
        self.play(Create(Square()))
