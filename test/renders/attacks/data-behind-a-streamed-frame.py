"""Success: a unit within a unit, which the muxer would split, is published.

Outcome: failed: can't be decoded
Level: full
"""


class Attack(Scene):
    def construct(self):
        send_other_pictures(lambda number, data: data + b"\0\0\2" + TARGETS["marker"].encode())
        self.play(Create(Square()))
