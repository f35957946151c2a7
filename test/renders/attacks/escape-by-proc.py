"""Success: /proc leads to the root, the folder or the descriptors of a process outside.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        for process in ("1", "self", str(TARGETS["service"])):
            for link in ("root", "cwd", "fd/3", "fd/4", "fd/5"):
                refused(open, f"/proc/{process}/{link}{TARGETS['files'][0]}")
                refused(open, f"/proc/{process}/{link}/../../../../../..{TARGETS['files'][0]}")
