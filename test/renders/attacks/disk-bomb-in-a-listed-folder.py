"""Success: files grow beyond the limit in a folder that can be listed but not entered, or the folder ends the watch.

Outcome: failed: files were larger than the limit|ValueError: nothing is closed here
"""

import time


class Attack(Scene):
    def construct(self):
        os.mkdir("d")
        with open("d/file", "wb") as file:
            os.chmod("d", 0o400)
            if not os.access("d/file", os.F_OK):
                file.write(bytes(200 << 20))
                time.sleep(60)
        raise ValueError("nothing is closed here")
