"""Success: files without a name or descriptor, of which a page is mapped, grow beyond the limit.

Outcome: failed: files were larger than the limit
"""

import mmap, time


class Attack(Scene):
    def construct(self):
        hoard = []
        for number in range(20):
            with open("hoard", "w+b", buffering=0) as file:
                if number % 2:
                    os.posix_fallocate(file.fileno(), 0, 16 << 20)
                else:
                    file.write(bytes(16 << 20))
                    if os.path.getsize("hoard") < 16 << 20:
                        file.write(b"x")  # shows why there is no more space
                hoard.append(mmap.mmap(file.fileno(), 4096))
            os.remove("hoard")
        time.sleep(10)
