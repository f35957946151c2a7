"""The renderer's zygote, whose jobs record the frames that they hand to the encoder."""

from pathlib import Path
from typing import Any

from fidelity.recording import Recording, describe_sound
from scene_renderer import warm_up
from scene_renderer.__main__ import main


def _record() -> None:
    warm_up_run()
    from scene_renderer.video import encode

    class Recorder(encode.MovieEncoder):
        def __init__(self, path: Path, *rest: Any) -> None:
            self._folder = path.parent
            self._recording = Recording()
            super().__init__(path, *rest)

        def _take(self) -> Any:
            if item := super()._take():
                canvas, repeat = item
                self._recording.add(canvas.pixels, repeat)
            return item

        def finish(self, segment: Any) -> None:
            super().finish(segment)
            if segment is not None:
                self._recording.sound = describe_sound(segment)
            self._recording.write(self._folder)

    vars(encode)["MovieEncoder"] = Recorder


if __name__ == "__main__":
    warm_up_run, warm_up.run = warm_up.run, _record
    main()
