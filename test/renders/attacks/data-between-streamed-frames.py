"""Success: NAL units without a picture are published with the video.

Outcome: failed: The video holds something else than pictures
Level: full
"""


class Attack(Scene):
    def construct(self):
        send_other_pictures(lambda number, data: data + b"\0\0\0\1\x0c" + TARGETS["marker"].encode())
        self.play(Create(Square()))
