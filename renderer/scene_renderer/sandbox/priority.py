"""CPU and out-of-memory priorities: the service has priority over the renderer, and the renderer over scenes.

The zygote and the watch of a job have priority over its scene, which may start many processes, because they
must be able to kill it.
"""

import os
import time
from contextlib import suppress

# Of two busy programs on a core, a render gets 44 %, and one in the background 10 %.
_NICENESS, _BACKGROUND = 1, 10
_GROUP = "/proc/self/autogroup"
_TRIES, _PAUSE_S = 100, 0.02
_OUT_OF_MEMORY = "/proc/self/oom_score_adj"
_RENDERER, _SCENE = 500, 1000  # of at most 1000, against the service's 0 or less


class Session:
    """The session of a zygote, of lower priority where the kernel shares the processor among sessions.

    All descendants stay in the session: jobs may not start new sessions, and don't keep the descriptor that
    sets its priority.
    """

    def __init__(self) -> None:
        """Start the session. Call it before any change of the user id.

        Afterwards the files of this process in /proc belong to root.
        """
        self._niceness: int | None = None
        self._descriptor: int | None = None
        with suppress(PermissionError):  # this process already leads one
            os.setsid()
        if os.getsid(0) != os.getpid():
            return
        with suppress(OSError):  # no autogroup scheduling
            self._descriptor = os.open(_GROUP, os.O_WRONLY | os.O_CLOEXEC)
        self.lower(background=False)

    def lower(self, *, background: bool) -> None:
        """Set its priority for the next job."""
        niceness = _niceness(background=background)
        if self._descriptor is None or self._niceness == niceness:
            return
        self._niceness = niceness
        for _ in range(_TRIES):
            try:
                os.write(self._descriptor, str(niceness).encode())
            except BlockingIOError:  # the kernel accepts ten changes a second from all users together
                time.sleep(_PAUSE_S)
            except OSError:
                return
            else:
                return


def yield_to_the_renderer(*, background: bool) -> None:
    """Lower the priority of this process and its future children within the session. Can't be undone."""
    os.nice(_niceness(background=background))


def _niceness(*, background: bool) -> int:
    return _BACKGROUND if background else _NICENESS


def die_before_the_service() -> None:
    """Make this process and its future children preferred victims of the OOM killer over the service."""
    _raise_oom_score(_RENDERER)


def die_first() -> None:
    """Make this process and its future children the first victims of the OOM killer."""
    _raise_oom_score(_SCENE)


def _raise_oom_score(score: int) -> None:
    # The inherited score may already be higher.
    with suppress(OSError, ValueError), open(_OUT_OF_MEMORY, "r+") as file:
        if int(file.read()) < score:
            file.seek(0)
            file.write(str(score))
