"""Success: removed files grow beyond the limit.

Outcome: failed: files were larger than the limit
"""

import time


class Attack(Scene):
    def construct(self):
        hoard = []
        for number in range(100):
            file = open("hoard", "wb")
            os.remove("hoard")
            file.write(bytes(16 << 20))
            file.flush()
            hoard.append(file)
            time.sleep(0.05)
        time.sleep(60)
