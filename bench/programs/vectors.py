# SPDX-License-Identifier: BSD-3-Clause
"""vectors - numpy, which asks for huge pages: reads an array of --size MiB in random order, and adds whole arrays, which makes new
ones; --iterations times."""
import numpy

import line


def work(size, iterations):
    count = size * line.MIB // 8
    array = numpy.arange(count, dtype=numpy.float64)
    places = numpy.random.default_rng(1).integers(0, count, 1 << 22)
    wrong = 0
    for step in range(iterations):
        wrong += not numpy.array_equal(array[places], places)
        total = array + step
        wrong += total[-1] != count - 1 + step
    return wrong, line.look()


line.run("vectors.py", work, size=256, iterations=4)
