"""Success: mappings that take long to be listed keep memory from being counted.

Outcome: failed: more memory than the limit
"""

import mmap, time

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
        for number in range(60_000):  # of alternating pages, so that they don't become one
            libc.mmap(None, 4096, READ, SHARED, mapped, 4096 * (number % 2))
        time.sleep(0.5)
        hoard = mmap.mmap(-1, 1000 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for place in range(0, len(hoard), 4096):
            hoard[place] = 1
        time.sleep(2)
