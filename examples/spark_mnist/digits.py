"""Images in the shape of MNIST, made by a formula: digits of seven segments, moved, in other strengths, with noise.

Brought to the nodes by --py-files, so that these import it as any module.
"""

import numpy as np

SIDE = 28
CLASSES = 10
NOISE = 0.2
MOVES = 2  # pixels in each direction
# Top, the upper two, middle, the lower two, bottom; as the digits of a pocket calculator have them.
SEGMENTS = {"top": (slice(4, 7), slice(9, 19)), "left": (slice(4, 14), slice(9, 12)), "right": (slice(4, 14), slice(16, 19)),
            "middle": (slice(12, 15), slice(9, 19)), "low left": (slice(13, 23), slice(9, 12)),
            "low right": (slice(13, 23), slice(16, 19)), "bottom": (slice(20, 23), slice(9, 19))}
LIT = ("top left right low-left low-right bottom", "right low-right", "top right middle low-left bottom",
       "top right middle low-right bottom", "left right middle low-right", "top left middle low-right bottom",
       "top left middle low-left low-right bottom", "top right low-right",
       "top left right middle low-left low-right bottom", "top left right middle low-right bottom")


def draw(number):
    """(784 numbers from 0 to 1, label) of the image with this number, always the same."""
    random = np.random.default_rng(number)
    label = number % CLASSES
    image = np.zeros((SIDE, SIDE), np.float32)
    for name in LIT[label].split():
        image[SEGMENTS[name.replace("-", " ")]] = random.uniform(0.6, 1.0)
    image = np.roll(image, random.integers(-MOVES, MOVES + 1, 2), axis=(0, 1))
    image += random.normal(0, NOISE, image.shape).astype(np.float32)
    return np.clip(image, 0, 1).reshape(-1), label


def row(number):
    """As rows of Spark are: (list of 784 numbers, label)."""
    image, label = draw(number)
    return image.tolist(), label


def arrays(numbers):
    """(images, labels) of those numbers."""
    images, labels = zip(*(draw(number) for number in numbers))
    return np.stack(images), np.array(labels, np.int64)
