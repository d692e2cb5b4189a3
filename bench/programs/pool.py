# SPDX-License-Identifier: BSD-3-Clause
"""pool - Python's multiprocessing by fork: --iterations pools of two children, which read --size MiB of their parent's memory and
write a little of it."""
import multiprocessing
import zlib

import line

data = bytearray()


def child(part):
    """The sum of an eighth of the data, which it then changes in one place."""
    begin = part * len(data) // 8
    total = zlib.crc32(memoryview(data)[begin:begin + len(data) // 8])
    data[begin] = 255 - data[begin]
    return total


def work(size, iterations):
    mib = bytes(range(256)) * (line.MIB // 256)
    for _ in range(size):
        data.extend(mib)
    expected = [zlib.crc32(memoryview(data)[part * len(data) // 8:(part + 1) * len(data) // 8]) for part in range(8)]
    wrong = 0
    for _ in range(iterations):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map(child, range(8), chunksize=1)
            pool.close()
            pool.join()
        wrong += found != expected or any(data[part * len(data) // 8] for part in range(8))
    return wrong, line.look()


line.run("pool.py", work, size=256, iterations=4)
