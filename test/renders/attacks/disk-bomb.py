"""Success: the total size of files exceeds the limit.

Outcome: failed: files were larger than the limit
"""

import time


class Attack(Scene):
    def construct(self):
        for number in range(100):
            with open(f"hoard-{number}", "wb") as file:
                file.write(bytes(16 << 20))
                file.flush()
                time.sleep(0.05)
        time.sleep(60)
