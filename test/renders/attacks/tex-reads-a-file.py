"""Success: TeX draws the content of a host file.

Outcome: failed: LaTeX
"""


class Attack(Scene):
    def construct(self):
        Tex(r"\input{/etc/passwd}")
