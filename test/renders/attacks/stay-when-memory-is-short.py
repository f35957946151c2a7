"""Success: when the machine runs out of memory, the kernel ends something else than the scene.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        path = "/proc/self/oom_score_adj"
        refused(lambda: os.write(os.open(path, os.O_WRONLY), b"0"))
        if int(open(path).read()) != 1000:
            raise Through(open(path).read())
