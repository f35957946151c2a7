"""Success: TeX writes a file above the job's folder.

Outcome: failed: I can't write on file
"""


class Attack(Scene):
    def construct(self):
        Tex(r"\newwrite\f\immediate\openout\f=" + TARGETS["data"] + r"/pwned \immediate\write\f{x}x")
