"""Preparations of the zygote before its first fork, so that jobs needn't repeat them."""

import manimpango
from tqdm import tqdm

from . import native
from .tex import sample


def run() -> None:
    """Import all modules that a job needs and read the list of fonts."""
    characters = sample.Conversion()
    if native.is_compiled():
        native.check()
    tqdm.monitor_interval = 0  # no monitor thread: threads don't survive a fork
    from .faster import (
        alignment,
        arcs,
        colours,
        curves,
        images,
        members,
        numbers,
        pointwise,
        projection,
        rotations,
        sizes,
        svg,
        svg_paths,
        texts,
    )
    from .job import (
        hints,
        rendering,  # noqa: F401 (imported for its side effect)
        settings,
        work_times,
    )
    from .tex import typesetting

    alignment.align_directly()
    arcs.keep_points()
    colours.colour_directly()
    curves.measure_directly()
    hints.refuse_windows()
    images.overlay_directly()
    numbers.copy_scaled_digits()
    pointwise.apply_directly()
    if native.is_compiled():
        from .faster import copies, drawing, families, interpolation, smoothing, updates

        copies.copy_directly()
        drawing.draw_directly()
        families.list_directly()
        interpolation.interpolate_directly()
        smoothing.smooth_directly()
        updates.update_directly()
    members.find_directly()
    projection.sort_directly()
    rotations.keep_matrices()
    sizes.measure_directly()
    svg.read_without_writing()
    svg_paths.place_directly()
    texts.close_directly()
    typesetting.set_directly(characters.result())
    if native.is_compiled():
        from .faster import drawing_threads

        drawing_threads.draw_by_threads()
    work_times.measure_tex()
    settings.prepare()
    manimpango.list_fonts()
