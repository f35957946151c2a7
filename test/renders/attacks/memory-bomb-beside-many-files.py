"""Success: files that are slow to count prevent memory from being counted.

Outcome: failed: more memory than the limit|folders that are too deep
"""

import mmap, time


class Attack(Scene):
    def construct(self):
        for _ in range(1900):
            os.mkdir("d")
            os.chdir("d")
        hoard = mmap.mmap(-1, 1000 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for place in range(0, len(hoard), 4096):
            hoard[place] = 1
        time.sleep(60)
