"""What the zygote does before its first fork, so that no job has to do it again."""

import manimpango
from tqdm import tqdm


def run() -> None:
    """Import everything that a job needs and read the list of fonts."""
    tqdm.monitor_interval = 0  # its monitor is a thread, and threads don't survive a fork
    from . import rendering, svg  # noqa: F401 (of the first the import is the purpose)

    svg.read_without_writing()
    manimpango.list_fonts()
