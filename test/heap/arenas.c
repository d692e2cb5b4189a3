/* SPDX-License-Identifier: BSD-3-Clause */
/* arenas - threads share an arena where each rank has one processor, and have one of their own
 * otherwise. Which it is, two short blocks show: an arena's lie in its own extents. */
#include "heap_test.h"

#include <pthread.h>
#include <unistd.h>

static void *block_of_thread(void *state) {
    (void)state;
    return malloc(100);
}

int main(void) {
    enum { extent = 2 << 20 };
    void *own = malloc(100), *other = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, block_of_thread, NULL);
    pthread_join(thread, &other);
    expect(in_region(own) && in_region(other), "short blocks in the region");
    ptrdiff_t apart = (char *)own - (char *)other;
    bool shared = -extent < apart && apart < extent;
    bool crowded = getenv("OMPI_COMM_WORLD_LOCAL_SIZE") || sysconf(_SC_NPROCESSORS_ONLN) == 1;
    expect(shared == crowded, crowded ? "one arena for both" : "an arena each");
    free(own);
    free(other);
    return failures > 0;
}
