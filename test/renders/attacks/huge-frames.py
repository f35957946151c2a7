"""Success: frames of a size that the scene chose are drawn.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        config.pixel_width = config.pixel_height = 100_000
        config["frame_rate"] = 100_000
        if config.pixel_width > 1000:
            raise Through
