"""Success: NAL units without a picture are published with the video.

Outcome: failed: The video holds something else than pictures
Level: reduced
"""


class Attack(Scene):
    def construct(self):
        def change(number, data):
            unit = b"\x0c" + TARGETS["marker"].encode()
            return data + len(unit).to_bytes(4, "big") + unit

        before_done(lambda: write_again(change))
