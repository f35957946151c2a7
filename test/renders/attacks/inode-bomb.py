"""Success: more files are made than the limit says.

Outcome: failed: more files than the limit
"""


class Attack(Scene):
    def construct(self):
        for number in range(1_000_000):
            open(f"hoard-{number}", "w").close()
