"""Success: when the machine runs out of memory, the kernel kills another process than the scene.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        refused(lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"0"))
