"""Success: a message queue or a semaphore set of the kernel's can be made.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.msgget(0, 0o1600), "msgget")
        failed(libc.semget(0, 32000, 0o1600), "semget")
