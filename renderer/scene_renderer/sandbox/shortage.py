"""Notices that the machine, or what the service may use of it, has no process left for a running job.

The zygote looks, which no scene can reach and to which the limits of a job don't apply. A job that has many
processes itself may have used up what there was, so it gets no excuse.
"""

import os

from . import process_tree

LOOK_S = 0.2
# Processes and threads. More than a scene that uses all of Manim has, and less than it may have.
_MOST_OF_A_JOB = 32
# Can't be executed.
_PROGRAM = "/"


def of_processes(job: int) -> str | None:
    """Return why no process can be started at present, unless those below process `job` may be the cause."""
    try:
        # Unlike fork, this copies no memory and takes 0.1 ms.
        os.posix_spawn(_PROGRAM, [_PROGRAM], {})
    except BlockingIOError as error:
        if process_tree.count_threads(job) <= _MOST_OF_A_JOB:
            return f"no more processes or threads could be started ({error.strerror})"
    except OSError:
        pass
    return None
