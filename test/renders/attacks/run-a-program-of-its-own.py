"""Success: a program that the job has brought along is executed.

Outcome: completed
"""

import shutil, subprocess


class Attack(Scene):
    def construct(self):
        shutil.copy("/bin/true", "program")
        os.chmod("program", 0o755)
        refused(subprocess.run, ["./program"])
        shutil.copy("/bin/true", "/tmp/program")
        refused(subprocess.run, ["/tmp/program"])
