"""Success: a System V message queue or semaphore set can be created.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.msgget(0, 0o1600), "msgget")
        failed(libc.semget(0, 32000, 0o1600), "semget")
