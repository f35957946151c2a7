"""Success: a process can be traced, or its memory written.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.ptrace(0, 0, 0, 0), "trace me")
        failed(libc.ptrace(16, 1, 0, 0), "attach")
        failed(libc.syscall(310, 1, None, 0, None, 0, 0), "process_vm_readv")
        failed(libc.syscall(438, 3, 3, 0), "pidfd_getfd")
        failed(libc.syscall(312, 1, 1, 0, 0, 0), "kcmp")
