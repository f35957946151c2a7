"""The control group that limits what a job uses in all: the service makes it, and the job moves in.

The zygote stays outside, so that what it holds doesn't count, and isn't ended with a job. Whether moving
is permitted goes by who opened the descriptor: the service. Jobs don't keep it.
"""

import os

_INHERITED = 3
_THIS_PROCESS = b"0"


def entrance() -> int:
    """Return the descriptor that leads into the group; what the zygote executes doesn't get it."""
    os.set_inheritable(_INHERITED, False)
    return _INHERITED


def enter(entrance: int) -> None:
    """Move this process into the group, with all that it starts from then on. Raises OSError."""
    os.write(entrance, _THIS_PROCESS)


def problem(entrance: int) -> str | None:
    """Return why processes can't move in; None when they can."""
    child = os.fork()
    if child == 0:
        code = -1
        try:
            enter(entrance)
            code = 0
        except OSError as error:
            code = error.errno or code
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return os.strerror(code) if code else None
