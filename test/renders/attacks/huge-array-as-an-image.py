"""Success: an image larger than memory is drawn.

Outcome: failed: Memory
"""


class Attack(Scene):
    def construct(self):
        self.add(ImageMobject(np.zeros((100_000, 100_000, 4), dtype=np.uint8) + 1))
