/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs - MPI_Dist_graph_create. Open MPI 4 sends its edges on the old communicator under the tags
 * -50 and -51, and receives them from any rank. Its nonblocking collectives, which also make
 * communicators, take the tags from -27 downwards, one each, and so reach those two once in the
 * life of a communicator. A rank that still waits for edges then takes the message of a rank that
 * is ahead, and all hang. This happens only if ranks enter at different times, as they do after a
 * team was built. So mortar uses these tags up before a communicator's first graph is made;
 * docs/design.md has the counts. */
#include "mpi/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { first_tag = 27, edge_tag = 51, spent = edge_tag - first_tag + 1 };

static bool is_open_mpi_4(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    return strncmp(version, "Open MPI v4.", 12) == 0;
}

/* True once per communicator. An attribute remembers that; duplicates of the communicator do not
 * inherit it. */
static bool is_first_graph(MPI_Comm comm) {
    static _Atomic int keyval = MPI_KEYVAL_INVALID;
    int key = atomic_load(&keyval), found = 0;
    void *value;
    if (key == MPI_KEYVAL_INVALID) {
        if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL) !=
            MPI_SUCCESS)
            return false;
        int none = MPI_KEYVAL_INVALID;
        if (!atomic_compare_exchange_strong(&keyval, &none, key)) {
            PMPI_Comm_free_keyval(&key);
            key = none;
        }
    }
    PMPI_Comm_get_attr(comm, key, &value, &found);
    return !found && PMPI_Comm_set_attr(comm, key, NULL) == MPI_SUCCESS;
}

static bool is_no_rank(int rank, int p) { return rank >= p || (rank < 0 && rank != MPI_PROC_NULL); }

/* Does Open MPI 4 refuse these edges before it sends anything? Then for the other ranks there was
 * no call, and they use up no tags with this one. */
static bool edges_refused(MPI_Comm comm, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[]) {
    int p = 0;
    PMPI_Comm_size(comm, &p);
    if (n < 0 || (n > 0 && !(sources && degrees && destinations && weights))) return true;
    for (int i = 0, edge = 0; i < n; i++) {
        if (is_no_rank(sources[i], p) || degrees[i] < 0) return true;
        for (int end = edge + degrees[i]; edge < end; edge++)
            if (is_no_rank(destinations[edge], p) ||
                (weights != MPI_UNWEIGHTED && weights[edge] < 0))
                return true;
    }
    return false;
}

static void spend_tags(MPI_Comm comm) {
    MPI_Request requests[spent];
    for (int i = 0; i < spent; i++)
        if (PMPI_Ibarrier(comm, &requests[i]) != MPI_SUCCESS) requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < spent; i++) PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm *graph) {
    int inter = 1;
    if (comm != MPI_COMM_NULL && is_open_mpi_4()) PMPI_Comm_test_inter(comm, &inter);
    if (!inter && graph && !has_strangers(comm) &&
        !edges_refused(comm, n, sources, degrees, destinations, weights) && is_first_graph(comm))
        spend_tags(comm);
    int error = host.dist_graph_create(comm, n, sources, degrees, destinations, weights, info,
                                       reorder, graph);
    return comm_made(error, graph);
}
