/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs - simulations as the command line names them, as many at once as there are processors. */
#include "model.h"

#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

bool parse_walk(const char *text, struct job *job) {
    size_t length = strcspn(text, "(");
    job->exchange.order = job->exchange.inner = NULL;
    for (int i = 0; i < ORDERS; i++) {
        if (strlen(orders[i].name) == length && strncmp(text, orders[i].name, length) == 0)
            job->exchange.order = &orders[i];
        size_t inner = strlen(orders[i].name);
        if (text[length] == '(' && strncmp(text + length + 1, orders[i].name, inner) == 0 &&
            strcmp(text + length + 1 + inner, ")") == 0)
            job->exchange.inner = &orders[i];
    }
    snprintf(job->walk, sizeof job->walk, "%s", text);
    return job->exchange.order && job->exchange.order->nests == (job->exchange.inner != NULL) &&
           job->exchange.order->nests == (text[length] == '(');
}

bool job_walks_edges(const struct job *job) {
    const struct order *inner = job->exchange.inner;
    struct walk walk = {.order = (enum order_id)(job->exchange.order - orders),
                        .inner = inner ? (enum order_id)(inner - orders) : 0};
    return walks_edges(walk);
}

/* ---- running the simulations, as many at once as there are processors ---- */

struct pool {
    const struct machine *machine;
    struct job *jobs;
    size_t count;
    atomic_size_t next;
    atomic_int error;
};

static void *work(void *argument) {
    struct pool *pool = argument;
    for (size_t i; (i = atomic_fetch_add(&pool->next, 1)) < pool->count;) {
        int error = simulate(pool->machine, &pool->jobs[i].exchange, &pool->jobs[i].result);
        if (error) atomic_store(&pool->error, error);
    }
    return NULL;
}

bool run_jobs(const struct machine *machine, struct job *jobs, size_t count) {
    struct pool pool = {.machine = machine, .jobs = jobs, .count = count};
    pthread_t helpers[16];
    struct processors mine = machine_processors();
    int more = processors_count(&mine) - 1, started = 0;
    for (; started < more && started < 16; started++)
        if (pthread_create(&helpers[started], NULL, work, &pool) != 0) break;
    work(&pool);
    for (int i = 0; i < started; i++) pthread_join(helpers[i], NULL);
    if (pool.error)
        fputs(
            "mortar model: more than 4G cache lines, or than memory holds; fewer ranks or bytes may do\n",
            stderr);
    return !pool.error;
}
