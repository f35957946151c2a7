"""Success: a process that the job has not started is listed.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        others = {name for name in os.listdir("/proc") if name.isdecimal()} - {"1", str(os.getpid())}
        if others:
            raise Through(others)
