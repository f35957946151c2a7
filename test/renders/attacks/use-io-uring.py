"""Success: system calls bypass the filter through io_uring.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.syscall(425, 8, b"\0" * 120), "io_uring_setup")
        failed(libc.syscall(206, 8, b"\0" * 8), "io_setup")
