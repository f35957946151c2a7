"""Success: the memory of a process outside is opened.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for process in {TARGETS["service"], 1, os.getppid()} - {0, os.getpid()}:
            for name in ("mem", "maps", "smaps", "auxv", "stack"):
                refused(lambda: open(f"/proc/{process}/{name}", "rb").read(1))
