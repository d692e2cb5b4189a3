/* SPDX-License-Identifier: BSD-3-Clause */
/* places - communicators: the world and what programs make of it. */
#include "driver.h"

struct place places[most_places];
int place_count;

static void add(const char *name, MPI_Comm comm) {
    struct place *place = &places[place_count++];
    *place = (struct place){.name = name, .comm = comm};
    MPI_Comm_size(comm, &place->p);
    MPI_Comm_rank(comm, &place->me);
}

static void add_split(const char *name, int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    add(name, comm);
}

void places_make(void) {
    int p, me;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm comm;
    add("world", MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    add("dup", comm);
    add_split("reversed", 0, -me);
    add_split("even ranks, then odd ranks", 0, me % 2 * p + me);
    add_split("even and odd ranks apart", me % 2, me);
    add_split("a third and the rest", me < p / 3, -me);
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Dims_create(p, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
    add("cartesian", comm);
    add("self", MPI_COMM_SELF);
}

void places_free(void) {
    for (int i = 0; i < place_count; i++)
        if (places[i].comm != MPI_COMM_WORLD && places[i].comm != MPI_COMM_SELF) MPI_Comm_free(&places[i].comm);
}
