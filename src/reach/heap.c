/* SPDX-License-Identifier: BSD-3-Clause */
/* path_heap - memory in a rank's shared heap, which its peers map once (team_map in node.c,
 * peers.c): li2018 section 2. No plan names this path, because every plan accesses such memory
 * directly. */
#include "reach/reach.h"

extern const struct path_code path_heap;
const struct path_code path_heap = {0};
