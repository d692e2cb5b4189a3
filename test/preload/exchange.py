# SPDX-License-Identifier: BSD-3-Clause
"""exchange - mpi4py with numpy arrays; MPI is loaded late and privately."""
import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
p, me, n = comm.Get_size(), comm.Get_rank(), 7
wrong = 0
send = numpy.array([[1000 * me + 10 * j + i for i in range(n)] for j in range(p)], dtype="d")
recv = numpy.full((p, n), -1, dtype="d")
comm.Alltoall(send, recv)
wrong += not all((recv[j] == 1000 * j + 10 * me + numpy.arange(n)).all() for j in range(p))
recv[:] = send
comm.Alltoall(MPI.IN_PLACE, recv)
wrong += not all((recv[j] == 1000 * j + 10 * me + numpy.arange(n)).all() for j in range(p))
recv[:] = -1
comm.Allgather(send[0], recv)
wrong += not all((recv[j] == 1000 * j + numpy.arange(n)).all() for j in range(p))
words = comm.alltoall(["%d to %d" % (me, j) for j in range(p)])  # pickled: goes by other calls
wrong += words != ["%d to %d" % (j, me) for j in range(p)]
wrong = comm.allreduce(int(wrong))
if me == 0:
    print("%d ranks, %d errors, %s" % (p, wrong, MPI.Get_library_version().split("\n")[0]))
sys.exit(wrong > 0)
