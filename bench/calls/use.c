/* SPDX-License-Identifier: BSD-3-Clause */
/* use - what stands between two calls of --use: a rank reads all that it has received and writes
 * all that it sends anew, as a program does. Without it nobody but the one who copies looks at the
 * blocks, and short ones need not leave its processor's cache.
 *
 * What is written are whole numbers as doubles, whatever the collective, for a sum of patterns that
 * are no usual doubles could be slow. */
#include "contest.h"

#include <stdatomic.h>
#include <string.h>

static volatile uint64_t kept; /* so that reading is not in vain */
static double turn;

#if defined(__x86_64__)
#define FAST __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FAST
#endif

FAST static uint64_t read_all(const char *memory, size_t bytes) {
    uint64_t sum = 0, word;
    size_t k = 0;
    for (; k + sizeof word <= bytes; k += sizeof word) {
        memcpy(&word, memory + k, sizeof word);
        sum += word;
    }
    for (; k < bytes; k++) sum += (unsigned char)memory[k];
    return sum;
}

FAST static void write_all(char *memory, size_t bytes, double value) {
    size_t k = 0;
    for (; k + sizeof value <= bytes; k += sizeof value) memcpy(memory + k, &value, sizeof value);
    for (; k < bytes; k++) memory[k] = (char)value;
}

uint64_t use_data(char *send, size_t send_bytes, const char *recv, size_t recv_bytes) {
    turn = turn < 100 ? turn + 1 : 1;
    uint64_t sum = read_all(recv, recv_bytes);
    kept = sum;
    write_all(send, send_bytes, turn);
    /* Written now, though the next turn may overwrite it. */
    atomic_signal_fence(memory_order_seq_cst);
    return sum;
}
