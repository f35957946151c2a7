"""``python -m fidelity.dry [PATTERN]``: compare dry runs of all examples with their renders.

After each play, the boxes and colours of all mobjects must be equal to five decimals, and the clock and the
state of the random numbers to the last bit. Curves that are redrawn by an updater may have more or fewer
points. Scenes that read the pixels of their camera may differ: the check says so.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from client import RENDERER, Message, Zygote, check_job, render_job
from fidelity.corpus import Example, bench_scenes, documented, own_scenes

_HERE = Path(__file__).parents[1]
_NOTED = "\x1fstate "
# What the scene says after each play.
_NOTES = f"""
def _note_states():
    import hashlib, random
    import numpy as np
    from manim import Scene
    play = Scene.play
    def noted(self, *args, **kwargs):
        play(self, *args, **kwargs)
        digest = hashlib.sha256()
        for mobject in self.get_mobject_family_members():
            digest.update(type(mobject).__name__.encode())
            points = getattr(mobject, "points", None)
            if isinstance(points, np.ndarray) and len(points):
                box = np.round([points.min(axis=0), points.max(axis=0)], 5)
                digest.update(box.astype(np.float32).tobytes())
            for name in ("fill_rgbas", "stroke_rgbas"):
                part = getattr(mobject, name, None)
                if isinstance(part, np.ndarray):
                    digest.update(np.round(part, 5).tobytes())
        digest.update(repr((self.renderer.time, random.getstate(), np.random.get_state()[2])).encode())
        print({_NOTED.strip()!r}, digest.hexdigest()[:8])
    Scene.play = noted
_note_states()
"""


@dataclass(frozen=True)
class DryComparison:
    """The first difference between a render and a dry run; empty if there is none."""

    difference: str
    render_ms: float
    dry_ms: float


class DryBench:
    """A zygote that renders examples and checks them."""

    def __init__(self) -> None:
        environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(RENDERER)}
        self._zygote = Zygote(environment=environment | {"OPENBLAS_NUM_THREADS": "1"})

    def compare(self, example: Example) -> DryComparison:
        fps = example.size[2]
        code = example.code + _NOTES
        size: Message = {"widthPx": 128, "heightPx": 72, "fps": fps}
        rendered, render_ms, _ = self._states(render_job(code, example.class_name, **size))
        dry, dry_ms, result = self._states(check_job(code, example.class_name, cpuSeconds=100, **size))
        difference = "" if result.get("readsPixels") else _difference(rendered, dry)
        return DryComparison(difference, render_ms, dry_ms)

    def close(self) -> None:
        self._zygote.close()

    def _states(self, job: Message) -> tuple[list[str], float, Message]:
        with tempfile.TemporaryDirectory() as folder:
            outcome = self._zygote.run(Path(folder), job)
        said = "".join(report["text"] for report in outcome.of_type("output"))
        states = [line for line in said.split("\n") if "state" in line]
        result = outcome.result
        length = result.get("frames", result.get("error"))
        plays = [play for report in outcome.of_type("plays") for play in report["plays"]]
        times = sum(work for report in outcome.of_type("work") for work in report["ms"].values())
        return [*states, f"plays {plays}", f"length {length}"], times, result


def _difference(rendered: list[str], dry: list[str]) -> str:
    for number, (one, other) in enumerate(zip(rendered, dry, strict=False)):
        if one != other:
            return f"play {number} of {len(rendered) - 2}: {one[:200]} / {other[:200]}"
    return "" if len(rendered) == len(dry) else f"{len(rendered)} plays / {len(dry)}"


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    examples = [one for one in own_scenes() + bench_scenes() + documented() if pattern in one.name]
    bench = DryBench()
    different, render_ms, dry_ms = 0, 0.0, 0.0
    for example in examples:
        found = bench.compare(example)
        render_ms += found.render_ms
        dry_ms += found.dry_ms
        if found.difference:
            different += 1
            print(f"{example.name}: {found.difference}", flush=True)
    bench.close()
    print(f"{len(examples)} scenes, {different} different; {render_ms / 1000:.0f} s / {dry_ms / 1000:.0f} s")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
