"""Success: more files are created than the limit permits.

Outcome: failed: more files than the limit
"""


class Attack(Scene):
    def construct(self):
        for number in range(1_000_000):
            open(f"hoard-{number}", "w").close()
