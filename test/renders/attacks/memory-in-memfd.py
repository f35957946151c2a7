"""Success: memory is held by a descriptor and not attributed to a process.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        refused(os.memfd_create, "hoard")
        failed(libc.syscall(447, 0), "memfd_secret")
