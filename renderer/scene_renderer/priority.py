"""Who waits when the processor is short: first the scene, then the renderer, last whoever asks the service.

The zygote and the watch over a job go before the scene, which may fork as often as it is allowed to: they
are what ends it.
"""

import os
import time
from contextlib import suppress

_NICENESS, _BACKGROUND = 5, 10
_GROUP = "/proc/self/autogroup"
_TRIES, _PAUSE_S = 100, 0.02
_OUT_OF_MEMORY = "/proc/self/oom_score_adj"
_RENDERER, _SCENE = 500, 1000  # of at most 1000, against the service's 0 or less


class Session:
    """The session of a zygote, of lower priority where the kernel shares the processor among sessions.

    What the session's processes start stays in it: jobs may not begin sessions of their own, and don't keep
    the descriptor by which its priority is set.
    """

    def __init__(self) -> None:
        """Begin it. To be called as the user who has started this process.

        Files about a process that has become another user's are root's.
        """
        self._niceness: int | None = None
        self._descriptor: int | None = None
        with suppress(PermissionError):  # it has been begun for this process
            os.setsid()
        if os.getsid(0) != os.getpid():
            return
        with suppress(OSError):  # the kernel doesn't share the processor so
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
            except BlockingIOError:  # of all users together, the kernel listens to ten a second
                time.sleep(_PAUSE_S)
            except OSError:
                return
            else:
                return


def yield_to_the_renderer(*, background: bool) -> None:
    """Lower the priority of this process, and of all that it starts, within its session. Can't be undone."""
    os.nice(_niceness(background=background))


def _niceness(*, background: bool) -> int:
    return _BACKGROUND if background else _NICENESS


def die_before_the_service() -> None:
    """Have the kernel, short of memory, end this process, and all that it starts, rather than the service."""
    _offer_to_be_ended(_RENDERER)


def die_first() -> None:
    """Have the kernel, short of memory, end this process, and all that it starts, before any other."""
    _offer_to_be_ended(_SCENE)


def _offer_to_be_ended(score: int) -> None:
    # What has started this may have been offered more urgently.
    with suppress(OSError, ValueError), open(_OUT_OF_MEMORY, "r+") as file:
        if int(file.read()) < score:
            file.seek(0)
            file.write(str(score))
