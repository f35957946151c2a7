"""Success: the job becomes root of a namespace.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for flags in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x10000011):
            failed(libc.unshare(flags), "unshare")
        failed(libc.syscall(56, 0x10000011, 0, 0, 0, 0), "clone")
        failed(libc.syscall(435, None, 88), "clone3")
        failed(libc.setns(0, 0), "setns")
