"""Success: a folder outside is reached by a second chroot.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        refused(os.chroot, ".")
        failed(libc.syscall(155, b".", b"."), "pivot_root")
