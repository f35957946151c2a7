"""Success: a file outside of the job's folder and its own tmp can be created or changed.

Outcome: completed
"""

import manim


class Attack(Scene):
    def construct(self):
        for folder in (
            "/",
            "/usr",
            "/usr/lib/python3",
            "/etc",
            "/dev",
            "/proc",
            "/var",
            os.path.dirname(manim.__file__),
        ):
            refused(open, f"{folder}/pwned", "w")
        refused(open, manim.__file__, "a")
        refused(os.remove, manim.__file__)
        refused(os.rename, os.getcwd(), os.getcwd() + "-moved")
