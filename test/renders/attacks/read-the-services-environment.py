"""Success: the environment of a process outside is read.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        try:
            processes = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
        except PermissionError:  # all processes are visible, but /proc cannot be listed
            processes = range(TARGETS["service"] - 1000, TARGETS["service"] + 1000)
        for process in (TARGETS["service"], *processes):
            if process != os.getpid():
                refused(open, f"/proc/{process}/environ")
        if TARGETS["variable"] in os.environ:
            raise Through(os.environ)
