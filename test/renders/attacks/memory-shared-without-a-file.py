"""Success: memory is held by a mapping whose pages are attributed to no process.

Outcome: completed
"""

import mmap


class Attack(Scene):
    def construct(self):
        refused(mmap.mmap, -1, 1 << 20)
        refused(os.open, "/dev/zero", os.O_RDWR)
        failed(libc.shmget(0, 1 << 20, 0o1600), "shmget")
        failed(libc.syscall(9, 0, 2 << 20, 3, 0x40022, -1, 0), "huge pages")
