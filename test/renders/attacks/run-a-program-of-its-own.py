"""Success: a program that the job wrote is executed.

Outcome: completed
"""

import shutil, subprocess


class Attack(Scene):
    def construct(self):
        shutil.copy("/bin/true", "program")
        os.chmod("program", 0o755)
        refused(subprocess.run, ["./program"])
        try:
            shutil.copy("/bin/true", "/tmp/program")
        except PermissionError:  # if /tmp is not private to the job
            return
        refused(subprocess.run, ["/tmp/program"])
