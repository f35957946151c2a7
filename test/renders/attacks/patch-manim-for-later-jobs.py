"""Success: a later job is affected by a patch of Manim.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        Scene.play = Scene.wait = lambda *_, **__: None
        Square.__init__ = lambda *_, **__: None
        config.background_color = "#ff0000"
