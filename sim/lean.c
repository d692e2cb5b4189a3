/* SPDX-License-Identifier: BSD-3-Clause */
/* lean - in a lean simulation long scratch memory is the same for all ranks: what lies there
 * belongs to nobody. The linker puts this in the way of scratch_take (--wrap). Short scratch holds
 * numbers that algorithms go by, and stays each rank's own. */
#include "reach/reach.h"

#include "sim.h"
#include "world.h"

bool lean;

void *__real_scratch_take(struct team *team, size_t bytes);
void *__wrap_scratch_take(struct team *team, size_t bytes);

void *__wrap_scratch_take(struct team *team, size_t bytes) {
    enum { first = 2, numbers = 6, least = 256 << 10 };
    static uint32_t turn;
    return lean && bytes >= least ? world_common((int)(first + turn++ % numbers), bytes)
                                  : __real_scratch_take(team, bytes);
}
