"""Preparations of the zygote before its first fork, so that jobs needn't repeat them."""

import manimpango
from tqdm import tqdm


def run() -> None:
    """Import all modules that a job needs and read the list of fonts."""
    tqdm.monitor_interval = 0  # no monitor thread: threads don't survive a fork
    from . import (
        copies,
        drawing,
        families,
        interpolation,
        rendering,  # noqa: F401 (imported for its side effect)
        svg,
    )

    copies.copy_directly()
    drawing.draw_directly()
    families.list_directly()
    interpolation.interpolate_directly()
    svg.read_without_writing()
    manimpango.list_fonts()
