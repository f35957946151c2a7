"""Success: the machine's memory is used up.

Outcome: failed: more memory than the limit
"""


class Attack(Scene):
    def construct(self):
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * (16 << 20)))
