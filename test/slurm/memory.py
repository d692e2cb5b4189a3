# SPDX-License-Identifier: BSD-3-Clause
"""memory - ranks whose allgathers read each other's buffers of so many MiB, for so many seconds. usage: memory.py MIB SECONDS"""
import sys
import time

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
send = numpy.full(int(sys.argv[1]) << 20, comm.Get_rank() + 1, dtype="b")
recv = numpy.zeros((comm.Get_size(), send.size), dtype="b")
end = time.monotonic() + float(sys.argv[2])
while comm.bcast(time.monotonic() < end):
    comm.Allgather(send, recv)
wrong = comm.allreduce(sum(not (recv[rank] == rank + 1).all() for rank in range(comm.Get_size())))
if comm.Get_rank() == 0:
    print("%d ranks, %d errors" % (comm.Get_size(), wrong))
