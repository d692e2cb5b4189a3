/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.h - crews whose ranks sit on several nodes, of any sizes and in any order: each node's
 * ranks share memory, between nodes there are only messages. */
#ifndef MORTAR_CLUSTER_H
#define MORTAR_CLUSTER_H

#include "crew.h"

/* Crews of 2 to most_ranks ranks, their nodes drawn. prepare, which may be NULL, is called before
 * each of them; body on every rank, with the team of all ranks. */
void clusters_run(uint64_t *random, void (*prepare)(int p, uint64_t *random),
                  void (*body)(struct rank *rank, struct team *team));

#endif
