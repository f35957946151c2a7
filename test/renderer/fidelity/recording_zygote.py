"""The renderer's zygote, whose jobs record the frames that they hand to the encoder."""

import os
from pathlib import Path
from typing import Any

from fidelity.recording import Recording, describe_sound
from scene_renderer import warm_up
from scene_renderer.__main__ import main


def _record() -> None:
    warm_up_run()
    from scene_renderer.video import movie

    class Recorder(movie.Movie):
        def __init__(self, *rest: Any) -> None:
            self._recording = Recording()
            super().__init__(*rest)

        def _drawn(self, frame: Any) -> Any:
            canvas = super()._drawn(frame)
            self._recording.add(canvas.pixels, frame.count)
            return canvas

        def finish(self, segment: Any, *rest: Any) -> None:
            super().finish(segment, *rest)
            if segment is not None:
                self._recording.sound = describe_sound(segment)
            self._recording.write(Path(os.environ["HOME"]))

    vars(movie)["Movie"] = Recorder


if __name__ == "__main__":
    warm_up_run, warm_up.run = warm_up.run, _record
    main()
