"""Success: a limit is raised.

Outcome: completed
"""

import resource


class Attack(Scene):
    def construct(self):
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
            hard = resource.getrlimit(kind)[1]
            refused(lambda: resource.setrlimit(kind, (hard + 1, hard + 1)), also=ValueError)
