"""Success: the service buffers unlimited output of a job.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for _ in range(2000):
            os.write(channel_descriptor(), b"x" * 65_536)
