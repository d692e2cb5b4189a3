/* SPDX-License-Identifier: BSD-3-Clause */
/* path_heap - memory in a rank's shared heap, mapped by its peers once (team_map in node.c,
 * peers.c): li2018 section 2. No plan names it: whatever lies there is read and written there, in
 * every plan. */
#include "reach/reach.h"

extern const struct path_code path_heap;
const struct path_code path_heap = {0};
