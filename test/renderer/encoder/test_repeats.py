"""Pictures that are repeated without being encoded."""

import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from scene_renderer.encoder import mp4
from scene_renderer.encoder.picture import Shown
from scene_renderer.encoder.repeats import KEY_INTERVAL, RepeatingEncoder
from scene_renderer.video.conversion import Converter
from scene_renderer.video.frames import Form

FPS = 30
SIZE = 320, 180

Pixels = npt.NDArray[np.uint8]


def drawn(number: int, *, noise: int = 0) -> Pixels:
    """A picture with a square, whose place depends on the number."""
    width, height = SIZE
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = np.random.default_rng(number).integers(0, noise + 1, (height, width, 3))
    place = number * 7 % (width - 40)
    pixels[50:90, place : place + 40] = (200, number % 256, 90, 255)
    return pixels


def encode(shots: list[tuple[Pixels, int]]) -> bytes:
    """A video in which each picture is shown for a number of frames."""
    file = io.BytesIO()
    height, width, _ = shots[0][0].shape
    with av.open(file, "w", format="mp4") as container:
        stream = mp4.add_video(container, width, height, FPS)
        stream.codec_context.thread_count, stream.codec_context.thread_type = 4, "FRAME"
        encoder, converter = RepeatingEncoder(stream), Converter(form := Form(width, height, FPS, "yuv420p"))
        shown = Shown(form, converter.picture)
        for pixels, count in shots:
            rows = converter.convert(pixels, (0, 0, width, height))
            shown.change(rows)
            for packet in encoder.show(shown.frame(), count, is_new=rows[0] < rows[1]):
                container.mux(packet)
        for packet in encoder.finish():
            container.mux(packet)
    return file.getvalue()


def frames_of(video: bytes) -> Iterator[tuple[Fraction, bytes]]:
    """Time and content of each frame; errors and gaps are not concealed."""
    with av.open(io.BytesIO(video), "r") as container:
        stream = container.streams.video[0]
        stream.codec_context.options = {"err_detect": "explode"}
        for frame in container.decode(stream):
            assert frame.pts is not None
            assert frame.time_base is not None
            yield Fraction(frame.pts * frame.time_base), b"".join(bytes(plane) for plane in frame.planes)


def luma_error(shown: bytes, pixels: Pixels) -> float:
    width, height = SIZE
    converter = Converter(Form(width, height, FPS, "yuv420p"))
    converter.convert(pixels, (0, 0, width, height))
    converted = converter.picture[:height]
    stride = len(shown) * 2 // 3 // height
    luma = np.frombuffer(shown, np.uint8)[: height * stride].reshape(height, stride)[:, :width]
    return float(np.abs(luma.astype(int) - converted).mean())


# More than the frame numbers of a video (16), and more than the distance of key pictures.
@pytest.mark.parametrize("counts", [(1, 1), (2, 3), (20, 1, 40, 1, 1, 17), (1, 700, 1, 3)])
@pytest.mark.parametrize("noise", [0, 60])
@pytest.mark.sampled(4)
def test_a_repeated_picture_stays_as_it_is(counts: tuple[int, ...], noise: int) -> None:
    shots = [(drawn(number, noise=noise), counts[number % len(counts)]) for number in range(30)]
    frames = list(frames_of(encode(shots)))
    assert [time for time, _ in frames] == [Fraction(number, FPS) for number in range(len(frames))]
    place = 0
    for pixels, count in shots:
        shown = [data for _, data in frames[place : place + count]]
        place += count
        # Key pictures are encoded, so they may differ a little. Other pictures of this noise differ by 15.
        assert len(set(shown)) <= 2 + count // KEY_INTERVAL
        assert max(luma_error(data, pixels) for data in set(shown)) < 5
    assert place == len(frames)


def test_the_pictures_between_are_those_of_a_video_without_repetitions() -> None:
    pixels = [drawn(number) for number in range(40)]
    once = [data for _, data in frames_of(encode([(picture, 1) for picture in pixels]))]
    often = [data for _, data in frames_of(encode([(picture, 5) for picture in pixels]))]
    for first, other in zip(once, often[::5], strict=True):
        differences = np.frombuffer(first, np.uint8).astype(int) - np.frombuffer(other, np.uint8)
        assert np.abs(differences).mean() < 1


def test_a_repetition_takes_a_few_bytes() -> None:
    still, moving = drawn(1), drawn(2)
    sizes = [len(encode([(still, count), (moving, 1)])) for count in (1, 101)]
    assert sizes[1] - sizes[0] < 100 * 60


def test_equal_pictures_are_repeated() -> None:
    one, other = drawn(1), drawn(2)
    separately = encode([(one, 1), (one.copy(), 1), (one.copy(), 3), (other, 1)])
    assert separately == encode([(one, 5), (other, 1)])


@pytest.mark.parametrize("size", [(2, 2), (90, 160), (854, 480), (1920, 1080), (3840, 2160), (2160, 3840)])
@pytest.mark.sampled(3)
def test_pictures_of_any_size_can_be_repeated(size: tuple[int, int]) -> None:
    width, height = size
    pixels = np.random.default_rng(1).integers(0, 256, (height, width, 4), dtype=np.uint8)
    frames = [hash(data) for _, data in frames_of(encode([(pixels, 3)]))]
    assert len(frames) == 3
    assert len(set(frames)) == 1


def key_frames(video: bytes) -> list[int]:
    with av.open(io.BytesIO(video), "r") as container:
        return [place for place, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]


def test_a_long_wait_has_key_pictures() -> None:
    assert key_frames(encode([(drawn(1), 3 * KEY_INTERVAL)])) == [0, KEY_INTERVAL, 2 * KEY_INTERVAL]


def test_a_picture_after_a_long_wait_is_a_key_picture() -> None:
    assert KEY_INTERVAL in key_frames(encode([(drawn(1), KEY_INTERVAL), (drawn(2), 1), (drawn(3), 1)]))


def test_an_encoder_with_other_references_is_refused() -> None:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        options = {"preset": "superfast", "bf": "2", "profile": "main"}
        stream: Any = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        encoder = RepeatingEncoder(stream)
        form = Form(*SIZE, FPS, "yuv420p")
        picture = Shown(form, form.new_picture()).frame()
        with pytest.raises(AssertionError):
            list(encoder.show(picture, 1, is_new=True)) + list(encoder.finish())
