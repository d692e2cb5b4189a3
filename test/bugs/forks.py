# SPDX-License-Identifier: BSD-3-Clause
"""forks - multiprocessing, os.fork, subprocess and os.system in the middle of an MPI program with its malloc in shared memory."""
import multiprocessing
import os
import subprocess
import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
p, me, n = comm.Get_size(), comm.Get_rank(), 20000
errors = 0


def use(value):
    send = numpy.full((p, n), value + me, dtype="i")
    recv = numpy.zeros((p, n), dtype="i")
    comm.Alltoall(send, recv)
    return int(not all((recv[i] == value + i).all() for i in range(p)))


def square(x):
    return int(sum(numpy.full(1000, x))) * x


data = numpy.arange(n)
for value in range(3):
    errors += use(value)
    pid = os.fork()
    if pid == 0:
        fine = (data == numpy.arange(n)).all()
        data[:] = -1
        os._exit(0 if fine else 1)
    errors += use(value + 5)
    errors += os.waitpid(pid, 0)[1] != 0
    errors += not (data == numpy.arange(n)).all()
with multiprocessing.get_context("fork").Pool(2) as pool:
    errors += use(50)
    errors += pool.map(square, range(20)) != [1000 * x * x for x in range(20)]
    errors += use(60)
errors += subprocess.run(["/bin/echo", "hello"], stdout=subprocess.PIPE, check=True).stdout != b"hello\n"
errors += os.system("exit 3") >> 8 != 3
errors += os.popen("echo hello").read() != "hello\n"
errors += use(70)
errors = comm.allreduce(int(errors))
if me == 0:
    print("%d ranks, %d errors" % (p, errors))
sys.exit(errors > 0)
