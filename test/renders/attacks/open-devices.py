"""Success: a device other than null and urandom exists or can be created.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for name in (
            "zero",
            "full",
            "random",
            "tty",
            "ptmx",
            "mem",
            "kmsg",
            "fuse",
            "kvm",
            "vda",
            "sda",
            "loop0",
            "net/tun",
        ):
            refused(os.open, f"/dev/{name}", os.O_RDONLY)
        refused(os.mknod, "disk", 0o60600, os.makedev(254, 0))
        refused(os.mkfifo, "pipe")
