/* SPDX-License-Identifier: BSD-3-Clause */
/* showing - for scenes of whole calls: all ranks are threads, so regions begin at address 0, and
 * every buffer is in reach unless the scene hides it. */
#include "crew.h"

bool hidden[most_threads];
static uintptr_t zeros[most_threads];

void crew_show(void) {
    for (int r = 0; r < scene_threads(); r++) {
        hidden[r] = false;
        teams[r].region_bytes = SIZE_MAX;
        teams[r].peers[0] = teams[r].peers[1] = zeros;
    }
}

enum shown team_shows(const struct team *team, const void *memory, size_t bytes, enum showing how,
                      uint64_t *offset) {
    (void)bytes, (void)how;
    *offset = (uintptr_t)memory;
    return hidden[team->me] ? SHOWN_NEVER : SHOWN;
}
void team_takes_back(const struct team *team, void *memory, size_t bytes) {
    (void)team, (void)memory, (void)bytes;
}
uintptr_t team_own_base(const struct team *team, bool writable) {
    (void)team, (void)writable;
    return 0;
}
bool team_has_path(const struct team *team, enum path_id path) {
    (void)team, (void)path;
    return false;
}

void copy_plain(void *to, const void *from, size_t bytes);
const struct kernel kernels[KERNELS] = {[KERNEL_plain] = {.move = copy_plain}};
