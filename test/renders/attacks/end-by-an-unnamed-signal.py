"""Success: the renderer cannot report how the job ended, and crashes.

Outcome: failed: ended by signal 40
"""


class Attack(Scene):
    def construct(self):
        os.kill(os.getpid(), 40)
