"""Success: a video without end occupies the inspection until the time-out.

Outcome: failed: The video
Level: full
"""


class Attack(Scene):
    def construct(self):
        unit = b"\0\0\0\1\x41" + bytes(range(1, 256))
        number = 0
        while True:  # Until the inspection has ended it, and this job with it.
            sender()._send(b"P", number, number, unit)
            number += 1
