"""Success: a file is there for the next job (the next but one looks for it).

Outcome: completed
"""

import pickle, sys


class Attack(Scene):
    def construct(self):
        for folder in (".", os.environ["HOME"], os.environ["TMPDIR"], "/tmp", "/dev/shm"):
            try:
                with open(f"{folder}/left-behind.pkl", "wb") as file:
                    pickle.dump(TARGETS["marker"], file)
            except PermissionError:
                if folder not in ("/tmp", "/dev/shm"):  # which are the job's own only where it has namespaces
                    raise
        for folder in {path for path in sys.path if path}:
            refused(open, f"{folder}/sitecustomize.py", "w")
            refused(os.mkdir, f"{folder}/__pycache__")
