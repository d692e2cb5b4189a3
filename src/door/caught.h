/* SPDX-License-Identifier: BSD-3-Clause */
/* caught.h - a table of all MPI calls that mortar takes, made of list.h, abi/makers.h and
 * coll/collectives.h. For each: CAUGHT(name without MPI_, parameters, arguments), where the latter
 * two are lists in parentheses, from forward.h. Define CAUGHT before including it, and LOOKS if the
 * rows called LOOK are to be something else. */
#ifndef LOOKS
#define LOOKS(name, parameters, arguments, found) CAUGHT(name, parameters, arguments)
#endif
#define DOOR(name, words) CAUGHT(name, PARAMETERS_##words, ARGUMENTS_##words)
#define LOOK(name, words, found) LOOKS(name, PARAMETERS_##words, ARGUMENTS_##words, found)
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    CAUGHT(symbol, TAKES(sent, received, more), PASSES(sent, received, more))                      \
    COUNTED(received, CAUGHT(symbol##_c, TAKES(sent, received, more), PASSES(sent, received, more)))
#define MAKER(name, symbol, words, parameters, arguments) DOOR(symbol, words)
#include "abi/makers.h"
#include "door/list.h"
#include "coll/collectives.h"
#undef COLLECTIVE
#undef MAKER
#undef DOOR
#undef LOOK
#undef LOOKS
