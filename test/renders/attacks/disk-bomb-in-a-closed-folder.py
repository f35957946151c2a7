"""Success: files grow beyond the limit in a folder that cannot be listed.

Outcome: failed: larger than the limit|more files than the limit
"""

import time


class Attack(Scene):
    def construct(self):
        os.mkdir("closed")
        os.chdir("closed")
        os.chmod(".", 0o300)
        for number in range(100):
            with open(f"hoard-{number}", "wb") as file:
                file.write(bytes(16 << 20))
                file.flush()
                time.sleep(0.05)
        time.sleep(60)
