/* SPDX-License-Identifier: BSD-3-Clause */
/* requests - the table of requests that are counted (src/door/requests.c) finds those that live and
 * no others, however many came before, while an MPI library gives the latest handles again.
 * requests [SEED [STEPS]] */
#include "door/count.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { most = 200, rows = 7 };
static uintptr_t requests[most]; /* the program's; 0: none, as MPI_REQUEST_NULL */
static int row_of[most];
static uintptr_t freed[most]; /* handles, the latest last */
static int freed_count;
static uintptr_t fresh = 0x7f1c00000000;

static void start(uint64_t *random, int i) {
    if (freed_count > 0) requests[i] = freed[--freed_count];
    else requests[i] = fresh += 0x1c0;
    row_of[i] = (int)draw_below(random, rows);
    request_made(&requests[i], row_of[i]);
}

/* A wait for these requests. It ends each of them, or none. */
static void wait_for(int first, int count, bool ends) {
    struct seen seen;
    int living = 0;
    requests_see(&requests[first], count, &seen);
    for (int i = first; i < first + count; i++) {
        if (!requests[i]) continue;
        expect(living < seen.count && seen.all[living].row == row_of[i], "request %d of row %d", i,
               row_of[i]);
        living++;
    }
    expect(seen.count == living, "%d requests instead of %d", seen.count, living);
    for (int i = first; i < first + count && ends; i++) {
        if (requests[i]) freed[freed_count++] = requests[i];
        requests[i] = 0;
    }
    requests_check(&seen);
}

int main(int arguments, char **words) {
    uint64_t random = seed_from(arguments, words);
    int steps = arguments > 2 ? atoi(words[2]) : 100000;
    start(&random, most - 1); /* lives to the end, as persistent ones do */
    for (int k = 0; k < steps; k++) {
        int i = (int)draw_below(&random, most - 1);
        if (!requests[i]) start(&random, i);
        else {
            int count = 1 + (int)draw_below(&random, (uint32_t)(most - 1 - i));
            wait_for(i, count, draw_below(&random, 2));
        }
    }
    for (int i = 0; i < most; i++)
        if (!requests[i]) start(&random, i);
    wait_for(0, most, false); /* as many as a program may start at once */
    wait_for(0, most, true);
    printf("%d steps\n", steps);
    return 0;
}
