"""Success: the service takes a job for ended, or forks one that the job chose.

Outcome: failed: sent something else
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
