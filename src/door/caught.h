/* SPDX-License-Identifier: BSD-3-Clause */
/* caught.h - every MPI call that mortar takes, from both tables: CAUGHT(name without MPI_,
 * parameters, arguments) for each, where the two are lists of forward.h in brackets. To be included
 * after CAUGHT was defined, as a table. */
#define DOOR(name, words) CAUGHT(name, PARAMETERS_##words, ARGUMENTS_##words)
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    CAUGHT(symbol, TAKES(sent, received, more), PASSES(sent, received, more))                      \
    COUNTED(received, CAUGHT(symbol##_c, TAKES(sent, received, more), PASSES(sent, received, more)))
#include "door/list.h"
#include "coll/collectives.h"
#undef COLLECTIVE
#undef DOOR
