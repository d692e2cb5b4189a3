#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""heap_test - Python over the shared heap: its buffers are in the region and move; fork, subprocess and multiprocessing work."""
import ctypes
import multiprocessing
import os
import subprocess
import sys
import threading


class Region(ctypes.Structure):
    _fields_ = [("base", ctypes.c_size_t), ("bytes", ctypes.c_size_t), ("fd", ctypes.c_int), ("page", ctypes.c_size_t),
                ("rest", ctypes.c_void_p * 5)]


def region():
    found = Region()
    error = ctypes.CDLL(None).mortar_heap_region(ctypes.byref(found))
    return (found.base, found.bytes) if error == 0 else None


def inside(buffer):
    where = region()
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    return where is not None and where[0] <= address < where[0] + where[1]


# Blocks up to 512 bytes come from arenas that Python maps itself, those of less than 128 KiB from the C library.
small, large = bytearray(b"abc" * 200), bytearray(50_000_000)


def work(queue):
    large[0] = 99
    queue.put((region(), bytes(small[:3]), len(bytearray(10_000_000))))


def main():
    assert region(), "the heap is shared"
    assert not inside(small) and inside(large), "bytearray"
    large[0] = 1
    address = ctypes.addressof(ctypes.c_char.from_buffer(large))
    start, end = -(-address // 4096) * 4096, (address + len(large)) // 4096 * 4096
    move = ctypes.CDLL(None).mortar_heap_move
    move.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    assert move(start, end - start) == 0 and large[0] == 1 and not any(large[1:]), "it moves"

    pid = os.fork()
    if pid == 0:
        ok = region() is None and large[0] == 1 and not inside(bytearray(200_000))
        large[0] = 2
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0 and large[0] == 1, "os.fork"

    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    process = fork.Process(target=work, args=(queue,))
    process.start()
    assert queue.get(timeout=30) == (None, b"abc", 10_000_000), "multiprocessing.Process"
    process.join()
    assert large[0] == 1, "the parent's data"
    with fork.Pool(2) as pool:
        assert pool.map(abs, range(-3, 3)) == [3, 2, 1, 0, 1, 2], "multiprocessing.Pool"

    assert subprocess.run(["echo", "hi"], stdout=subprocess.PIPE, check=True).stdout == b"hi\n", "subprocess"
    assert subprocess.run(["true"], preexec_fn=lambda: None, check=True).returncode == 0, "subprocess with preexec_fn"
    code = "import ctypes; print(ctypes.CDLL(None).mortar_heap_region(ctypes.create_string_buffer(80)))"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"0\n", "a started program has a shared heap of its own"
    assert os.system("exit 5") == 5 << 8, "os.system"
    assert os.popen("echo popen").read() == "popen\n", "os.popen"

    threads = [threading.Thread(target=lambda: [bytearray(1000 * i) for i in range(300)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if len(bytearray(1_000_000)) == 1_000_000 else 1)
        assert os.waitpid(pid, 0)[1] == 0, "os.fork beside threads"
    for thread in threads:
        thread.join()
    assert inside(bytearray(200_000)), "still shared"


main()
