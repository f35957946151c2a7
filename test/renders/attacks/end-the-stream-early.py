"""Success: a job without pictures is completed.

Outcome: failed: sent (a video without a picture|no video)
"""


class Attack(Scene):
    def construct(self):
        sender().end()
        self.wait()
