"""Success: a file remains for the next job (which `look-for-files-left-behind` checks).

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
                if folder not in ("/tmp", "/dev/shm"):  # private to the job only with namespaces
                    raise
        for folder in {path for path in sys.path if path}:
            refused(open, f"{folder}/sitecustomize.py", "w")
            refused(os.mkdir, f"{folder}/__pycache__")
