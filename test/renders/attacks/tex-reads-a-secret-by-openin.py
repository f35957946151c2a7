"""Success: TeX opens a file of the service.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        Tex(r"\newread\f\openin\f=" + TARGETS["files"][0] + r" \ifeof\f shut\else\errmessage{through}\fi")
