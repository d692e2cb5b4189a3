/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_last - every rank posts where its buffers lie and arrives at one barrier; the last to arrive copies all p x p blocks
 * and releases the others. Buffers that peers cannot reach: all ranks go through the stage instead.
 * Cost    one barrier, p p n beta on one core.
 * Wins    nowhere for sure, so the model never takes it: up to 24 ranks on 2 cores it is as fast as cico, from 32 on up to ten
 *         times slower (EPYC virtual machine, 2026-11, `mortar bench`), since each rank in its turn walks all ranks' pages. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_last;

static int prepare(struct team *team, const struct arguments *arguments) {
    (void)arguments;
    int error = team_map(team, true); /* writes the others' receive buffers */
    return error ? error : team_map(team, false);
}

static void copy_everything(const struct team *team, const struct call *call) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    uint32_t half = team->epoch & 1;
    for (uint32_t j = 0; j < (uint32_t)team->p; j++)
        for (uint32_t i = 0; i < (uint32_t)team->p; i++)
            copy_cell(team, &call->shape, half, (struct cell){.source = i, .dest = j}, true, &plain);
}

HOT static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    uint32_t half = team->epoch & 1, trouble;
    if (sync_arrive(team, publish(team, call, true))) {
        if (sync_trouble(team) == 0) copy_everything(team, call);
        trouble = sync_release(team);
    } else {
        trouble = sync_wait(team);
    }
    if (trouble & LEAVE) return LEFT;
    if (trouble & TYPED && !(trouble & SEND_UNREACHABLE && call->straight)) return typed_exchange(team, call, arguments, 0);
    if (trouble && call->straight) return OUT_OF_REACH;
    if (trouble) return staged_exchange(team, call, 0, (int)half), STAGED;
    return DONE;
}

const struct algorithm_code algorithm_last = {.prepare = prepare, .run = run};
