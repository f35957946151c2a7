"""Success: system calls are made by the numbers of another architecture.

Outcome: failed: SIGSYS
"""


class Attack(Scene):
    def construct(self):
        libc.syscall(0x40000000 | 41, 1, 1, 0)
        raise Through
