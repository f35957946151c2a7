"""Success: a file of the host that rendering doesn't need is opened.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for path in (
            "/etc/passwd",
            "/etc/shadow",
            "/etc/hostname",
            "/root",
            "/home",
            "/sys/kernel",
            "/var/log",
        ):
            refused(os.open, path, os.O_RDONLY)
