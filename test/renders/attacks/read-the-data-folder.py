"""Success: a file of the service's data folder is opened, or the folder listed.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for path in TARGETS["files"]:
            refused(open, path)
        see_only(TARGETS["data"], "work")
