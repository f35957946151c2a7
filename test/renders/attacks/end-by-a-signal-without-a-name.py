"""Success: the renderer can't say how the job ended, and ends itself.

Outcome: failed: ended by signal 40
"""


class Attack(Scene):
    def construct(self):
        os.kill(os.getpid(), 40)
