"""Success: a job without pictures is completed.

Outcome: failed: The video is incomplete
Level: full
"""


class Attack(Scene):
    def construct(self):
        sender().end("")
        self.wait()
