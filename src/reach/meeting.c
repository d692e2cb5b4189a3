/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting - how the ranks of a team under construction meet: by collectives of the host MPI on the
 * program's communicator, or by messages where no communicator has just these ranks. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"

#include <errno.h>

bool all_agree(MPI_Comm comm, bool fine) {
    int mine = fine, all = 0;
    return host_combine(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

bool meet_agree(const struct meeting *meeting, bool fine) {
    return meeting->wired ? messages_agree(meeting->wired, fine) : all_agree(meeting->comm, fine);
}

int meet_gather(const struct meeting *meeting, const void *mine, void *all, size_t bytes) {
    if (meeting->wired) return messages_gather(meeting->wired, mine, all, bytes);
    int error =
        host.allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, meeting->comm);
    return error == MPI_SUCCESS ? 0 : -EIO;
}
