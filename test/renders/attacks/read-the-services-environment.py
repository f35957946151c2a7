"""Success: the environment of a process outside is read.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for process in [TARGETS["service"], *filter(str.isdecimal, os.listdir("/proc"))]:
            if int(process) != os.getpid():
                refused(open, f"/proc/{process}/environ")
        if TARGETS["variable"] in os.environ:
            raise Through(os.environ)
