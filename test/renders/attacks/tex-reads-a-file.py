"""Success: TeX puts a file of the host into the picture.

Outcome: failed: LaTeX
"""


class Attack(Scene):
    def construct(self):
        Tex(r"\input{/etc/passwd}")
