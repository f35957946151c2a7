"""Scenes that render, in which nothing may be found."""

import time

import pytest

from fidelity import corpus
from scene_renderer.reading import find

# They need a package, a network or a file that is not here.
_LACKING = ("LabeledCountryExample", "SoundExample")


@pytest.mark.deep
def test_nothing_is_found_in_scenes_that_render() -> None:
    scenes = [(one.name, one.code, one.class_name) for one in (*corpus.own_scenes(), *corpus.bench_scenes())]
    scenes += [(one.name, one.code, one.class_name) for one in corpus.documented()]
    found, times = {}, []
    for name, code, class_name in scenes:
        start = time.process_time()
        findings = find(code, class_name)
        times.append(time.process_time() - start)
        if findings and not class_name.startswith(_LACKING):
            found[name] = [one["message"] for one in findings]
    assert len(scenes) > 400
    assert found == {}
    assert sorted(times)[len(times) // 2] < 0.05
