"""Writes what ../image/open_nsfw.bin makes of ../image/golden/*.png, with numpy and Pillow.

    venv/bin/python image.py

../image/golden/expected.json has two numbers for each picture. `float` is from the original network in floating point, by
onnxruntime; this program keeps it. `bytes` is what the weights in our file make of the picture. ../image/golden/resize.json has
pixels of pictures that Pillow has shrunk.
"""

import json
import struct
from pathlib import Path

import numpy
from PIL import Image

HERE = Path(__file__).parent
GOLDEN = HERE / "../image/golden"


def tensor(data, at, rows, columns):
    (kind,) = struct.unpack_from("<I", data, at)
    at += 4
    if kind == 2:
        return numpy.frombuffer(data, "<f4", rows * columns, at).reshape(rows, columns), at + 4 * rows * columns
    assert kind == 1
    scales = numpy.frombuffer(data, "<f4", columns, at)
    at += 4 * columns
    return numpy.frombuffer(data, "i1", rows * columns, at).reshape(rows, columns) * scales, at + rows * columns


def convolve(x, weights, biases, kernel, stride, before, after):
    x = numpy.pad(x, ((before, after), (before, after), (0, 0)))
    seen = numpy.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (0, 1))[::stride, ::stride]
    # Rows of the kernel, its columns, channels.
    side = seen.shape[0]
    return seen.transpose(0, 1, 3, 4, 2).reshape(side * side, -1).dot(weights).reshape(side, side, -1) + biases


def run(data, x):
    assert data[:5] == b"GHIM2"
    at = 5

    def numbers(count):
        nonlocal at
        at += 4 * count
        return struct.unpack_from(f"<{count}I", data, at - 4 * count)

    size, kind, layers = numbers(3)
    assert (size, kind) == (224, 1)
    kept = {}
    for _ in range(layers):
        (kind,) = numbers(1)
        if kind == 0:
            kernel, inputs, outputs, stride, before, after, act = numbers(7)
            weights, at = tensor(data, at, kernel * kernel * inputs, outputs)
            biases, at = tensor(data, at, 1, outputs)
            x = convolve(x, weights, biases[0], kernel, stride, before, after)
            x = numpy.maximum(x, 0) if act == 2 else x
        elif kind == 3:
            kept[numbers(1)[0]] = x
        elif kind == 4:
            slot, act = numbers(2)
            x = x + kept[slot]
            x = numpy.maximum(x, 0) if act == 2 else x
        elif kind == 5:
            x = x.mean((0, 1))
        elif kind == 6:
            inputs, outputs = numbers(2)
            weights, at = tensor(data, at, inputs, outputs)
            biases, at = tensor(data, at, 1, outputs)
            x = x @ weights + biases[0]
        elif kind == 7:
            half = x.shape[0] // 2
            x = numpy.pad(x, ((0, 1), (0, 1), (0, 0)), constant_values=-numpy.inf)
            x = numpy.lib.stride_tricks.sliding_window_view(x, (3, 3), (0, 1))[::2, ::2][:half, :half].max((3, 4))
        elif kind == 8:
            x = kept[numbers(1)[0]]
    assert at == len(data)
    return 1 / (1 + numpy.exp(x[0] - x[1]))


def see(picture):
    """The middle of a picture that is an eighth larger than the network wants it."""
    return numpy.asarray(picture.convert("RGB").resize((256, 256), Image.BILINEAR).crop((16, 16, 240, 240)))


def pattern(width, height):
    """A picture that a test can make, too."""
    y, x = numpy.mgrid[:height, :width]
    channels = [x * 7 + y * 3 + x * y // 5, x * 2 + y * 11, (x ^ y) * 5]
    return Image.fromarray((numpy.stack(channels, 2) % 256).astype(numpy.uint8))


def main():
    data = (HERE / "../image/open_nsfw.bin").read_bytes()
    expected = json.loads((GOLDEN / "expected.json").read_text())
    for name, row in expected.items():
        bgr = see(Image.open(GOLDEN / name))[:, :, ::-1].astype(numpy.float32)
        row["bytes"] = round(float(run(data, bgr - numpy.array([104, 117, 123], numpy.float32))), 6)
        print(name, row)
    (GOLDEN / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    sizes = []
    for width, height in [(1, 1), (3, 200), (255, 256), (256, 256), (257, 400), (640, 480), (1500, 37), (1000, 700)]:
        seen = see(pattern(width, height))
        pixels = [[x, y, *map(int, seen[y, x])] for y in range(0, 224, 37) for x in range(0, 224, 31)]
        sizes.append(json.dumps(dict(width=width, height=height, pixels=pixels)))
    (GOLDEN / "resize.json").write_text("[\n" + ",\n".join(sizes) + "\n]\n")


if __name__ == "__main__":
    main()
