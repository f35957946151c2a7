"""Success: pages that are far apart need many times their size in page tables, which are not counted.

Outcome: failed: more memory than the limit
"""

import time

GIB = 1 << 30
READ, PRIVATE_ANONYMOUS_FIXED = 1, 0x100022


class Attack(Scene):
    def construct(self):
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        for _ in range(3):
            if os.fork() == 0:
                break
        for number in range(1, 60_000):
            if libc.mmap(number * GIB, 4096, READ, PRIVATE_ANONYMOUS_FIXED, -1, 0) == number * GIB:
                ctypes.string_at(number * GIB, 1)  # the shared zero page
        time.sleep(20)
