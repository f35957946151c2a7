"""``npm run fidelity [-- PATTERN]``: compare all examples, or those with PATTERN in their names."""

import sys
import time

from fidelity.comparison import Comparison, Verdict, compare_all
from fidelity.corpus import bench_scenes, documented, own_scenes


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    examples = [
        example for example in own_scenes() + bench_scenes() + documented() if pattern in example.name
    ]
    if not examples:
        sys.exit(f"No scene has {pattern!r} in its name.")
    begun = time.monotonic()
    results = []
    for result in compare_all(examples):
        results.append(result)
        if result.verdict is not Verdict.EQUAL:
            reason = " ".join(result.reason.split())
            print(f"{result.example.name}: {result.verdict.value}: {reason}", flush=True)
    _report(results, time.monotonic() - begun)
    sys.exit(any(result.verdict is Verdict.DIFFERENT for result in results))


def _report(results: list[Comparison], seconds: float) -> None:
    kinds = {
        "animations": [result for result in results if not result.example.still],
        "stills": [result for result in results if result.example.still],
    }
    print(f"\n{'':30}" + "".join(f"{kind:>12}" for kind in kinds))
    for verdict in Verdict:
        counts = [sum(result.verdict is verdict for result in those) for those in kinds.values()]
        if any(counts) or verdict in (Verdict.EQUAL, Verdict.DIFFERENT):
            print(f"{verdict.value:30}" + "".join(f"{count:12}" for count in counts))
    frames = [sum(result.frames for result in those) for those in kinds.values()]
    print(f"{'equal frames':30}" + "".join(f"{count:12}" for count in frames))
    print(f"\n{len(results)} scenes in {seconds / 60:.1f} minutes.")


if __name__ == "__main__":
    main()
