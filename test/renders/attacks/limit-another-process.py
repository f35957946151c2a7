"""Success: the limits or the priority of a process outside are changed.

Outcome: completed
"""

import resource


class Attack(Scene):
    def construct(self):
        refused(resource.prlimit, 1, resource.RLIMIT_CPU, (1, 1))
        refused(os.setpriority, os.PRIO_USER, os.getuid(), 19)
        refused(os.sched_setaffinity, 1, {0})
