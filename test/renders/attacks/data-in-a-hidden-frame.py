"""Success: a frame with far more data than a frame can have is published with the video.

Outcome: failed: (more to it than|can't be decoded)
Level: reduced
"""


class Attack(Scene):
    def construct(self):
        def change(number, data):
            unit = b"\x41" + TARGETS["marker"].encode() * 40_000
            return data + (len(unit).to_bytes(4, "big") + unit if number == 1 else b"")

        before_done(lambda: write_again(change))
