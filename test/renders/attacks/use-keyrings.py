"""Success: a key remains for later jobs, or a key of others is read.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.syscall(248, b"user", b"pwned", b"x", 1, -4), "add_key")
        failed(libc.syscall(249, b"user", b"pwned", None, -4), "request_key")
        failed(libc.syscall(250, 0, -4, 0), "keyctl")
