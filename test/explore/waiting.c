/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting - for scenes of what is built on struct flag: a wait as flag.h promises it, that is,
 * until the word differs. That wait.c keeps the promise is what the scenes of flags show. */
#include "explore.h"

#include "reach/reach.h"

HOT uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old) {
    (void)team;
    return await_change(&flag->word, old);
}

HOT bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old) {
    (void)team;
    return flag_look(flag) != old;
}

void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old) {
    flag_wait(team, flag, old);
}

void flag_wake(struct flag *flag) { (void)flag; }
