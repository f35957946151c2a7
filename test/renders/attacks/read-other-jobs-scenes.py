"""Success: a folder of another job or of the worker is visible.

Outcome: completed
"""


class Attack(Scene):
    def construct(self):
        job, worker = os.path.basename(os.getcwd()), os.path.basename(os.path.dirname(os.getcwd()))
        see_only("..", job)
        see_only("../..", worker)
