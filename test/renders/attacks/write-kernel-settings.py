"""Success: a kernel setting is writable.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for path in (
            "/proc/sys/kernel/core_pattern",
            "/proc/sysrq-trigger",
            "/proc/sys/vm/drop_caches",
            "/proc/self/oom_score_adj",
            "/proc/self/uid_map",
            "/sys/kernel/uevent_helper",
        ):
            refused(os.open, path, os.O_WRONLY)
