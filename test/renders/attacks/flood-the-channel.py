"""Success: the service keeps what a job says without end.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for _ in range(2000):
            os.write(channel_descriptor(), b"x" * 65_536)
