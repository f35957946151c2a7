"""Success: system calls of another architecture are made.

Outcome: failed: SIGSYS
"""


class Attack(Scene):
    def construct(self):
        libc.syscall(0x40000000 | 41, 1, 1, 0)
        raise Through
