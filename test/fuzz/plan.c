/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - any text as a plan: it is refused with a reason, or it is a plan whose own text is read as
 * the same plan, with and without a threshold of the hybrid copy. */
#include "fuzz.h"

#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static bool same_arguments(const struct arguments *a, const struct arguments *b) {
    return a->walk.order == b->walk.order && a->walk.inner == b->walk.inner &&
           a->copier.kernel == b->copier.kernel && a->copier.plain == b->copier.plain &&
           a->chunk == b->chunk && a->path == b->path && a->number == b->number &&
           a->owners == b->owners && a->inner == b->inner && a->local == b->local;
}

/* Is the plan's text read as this plan? */
static void check_text(const struct plan *plan) {
    char why[192], text[64];
    struct plan again;
    must(memchr(plan->text, 0, sizeof plan->text) != NULL, "a text without an end");
    memcpy(text, plan->text, sizeof text);
    must(plan_parse(text, &again, why, sizeof why) == 0, "its own text: %s", why);
    must(strcmp(again.text, plan->text) == 0, "\"%s\" is \"%s\"", plan->text, again.text);
    must(again.algorithm == plan->algorithm && same_arguments(&again.arguments, &plan->arguments),
         "\"%s\" is read as another plan", plan->text);
    const struct routine *inside[] = {plan->arguments.inner, plan->arguments.local};
    for (int i = 0; i < 2; i++) {
        if (!inside[i]) continue;
        must(plan_parse(inside[i]->text, &again, why, sizeof why) == 0, "inside: %s", why);
        must(again.algorithm == inside[i]->algorithm &&
                 same_arguments(&again.arguments, &inside[i]->arguments),
             "\"%s\" inside is another plan", inside[i]->text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct food food = {data, size};
    size_t room = 1 + eat(&food, 192);
    struct figures figures = figures_of_node(1 + (int)eat(&food, 1000));
    figures.l2_bytes = eat_size(&food, 30);
    char *text = eat_text(&food), *why = calloc(1, room);
    struct plan plan;
    must(why != NULL, "no memory");
    int error = plan_parse(text, &plan, why, room);
    if (error == 0) {
        check_text(&plan);
        plan_settle(&figures, &plan);
        check_text(&plan);
        must(plan.arguments.copier.plain != HYBRID_START, "\"%s\" is not settled", plan.text);
    } else {
        must(room == 1 || *why, "\"%s\" is refused without a reason", text);
        must(memchr(why, 0, room) != NULL, "a reason without an end");
    }
    free(why);
    free(text);
    return 0;
}
