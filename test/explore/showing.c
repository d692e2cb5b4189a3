/* SPDX-License-Identifier: BSD-3-Clause */
/* showing - for scenes of whole calls: all ranks are threads, so regions begin at address 0, and
 * every buffer is in reach unless the scene hides it. Each rank has some memory that always is. */
#include "crew.h"

#include <string.h>

enum { room = 1024, line = 64 };
struct shown_moves shown_moves; /* nothing moves */
bool hidden[most_threads], scarce[most_threads];
static uintptr_t zeros[most_threads];
static char *rooms[most_threads];
static size_t used[most_threads], pieces[most_threads];

void crew_show(void) {
    for (int r = 0; r < scene_threads(); r++) {
        hidden[r] = scarce[r] = false;
        rooms[r] = share(room);
        name_memory(rooms[r], room, "memory in reach");
        used[r] = pieces[r] = 0;
        teams[r].region_bytes = SIZE_MAX;
        teams[r].peers[0] = teams[r].peers[1] = zeros;
    }
}

enum shown team_shows(const struct team *team, const void *memory, size_t bytes, enum showing how,
                      uint64_t *offset) {
    (void)bytes, (void)how;
    *offset = (uintptr_t)memory;
    bool born = *offset - (uintptr_t)rooms[team->me] < room;
    return hidden[team->me] && !born ? SHOWN_NEVER : SHOWN;
}
void *shown_born(size_t alignment, size_t bytes) {
    int me = thread_now();
    (void)alignment;
    if (scarce[me] || bytes > room - used[me]) return NULL;
    char *piece = rooms[me] + used[me];
    used[me] += (bytes + line - 1) / line * line;
    pieces[me]++;
    return piece;
}
/* Whoever gets the memory next writes there. */
void shown_free(void *memory) {
    int me = thread_now();
    if (!memory) return;
    memset(memory, 0, line);
    if (--pieces[me] == 0) used[me] = 0;
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
