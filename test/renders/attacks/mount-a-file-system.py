"""Success: something is mounted.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        failed(libc.mount(b"none", b".", b"tmpfs", 0, None), "mount")
        failed(libc.mount(b"/", b".", None, 4096, None), "bind")
        failed(libc.umount2(b"/proc", 2), "umount")
        failed(libc.syscall(428, -100, b"/", 1), "open_tree")
        failed(libc.syscall(430, b"tmpfs", 0), "fsopen")
