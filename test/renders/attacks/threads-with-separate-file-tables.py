"""Success: a thread holds files in a separate file table, where they are not counted.

Outcome: completed
"""

CLONE, CLOSE_RANGE, UNSHARE = (220, 436, 97) if os.uname().machine == "aarch64" else (56, 436, 272)
CLONE_VM, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD = 0x100, 0x400, 0x800, 0x10000


class Attack(Scene):
    def construct(self):
        # Without a stack: if the thread were created, it would crash the job.
        failed(libc.syscall(CLONE, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0), "clone")
        failed(libc.syscall(CLOSE_RANGE, 1000, 1001, 2), "close_range")
        failed(libc.syscall(UNSHARE, CLONE_FILES), "unshare")
