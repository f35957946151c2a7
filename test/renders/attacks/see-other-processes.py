"""Success: a process that the job has not started is listed.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        try:
            names = os.listdir("/proc")
        except PermissionError:
            return
        others = {name for name in names if name.isdecimal()} - {"1", str(os.getpid())}
        if others:
            raise Through(others)
