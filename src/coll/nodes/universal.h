/* SPDX-License-Identifier: BSD-3-Clause */
/* universal.h - private to coll/: the collectives that universal.c runs. */
#ifndef MORTAR_UNIVERSAL_H
#define MORTAR_UNIVERSAL_H

#include "coll/nodes/job.h"

/* ---- universal_rooted.c ---- */
enum outcome universal_bcast(struct job *job);
enum outcome universal_gather(struct job *job);
enum outcome universal_scatter(struct job *job);

/* ---- universal_reduced.c ---- */
enum outcome universal_reduction(struct job *job);
/* Seconds that combining and copying take inside a node. */
double universal_combine_seconds(const struct figures *f, const struct shape *shape);

#endif
