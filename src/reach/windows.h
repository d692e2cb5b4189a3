/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.h - private to reach/: parts of other processes' memory, attached through XPMEM. Shared
 * by all teams of this process. Thread safe and local; errors are -errno. */
#ifndef MORTAR_WINDOWS_H
#define MORTAR_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

struct source; /* another process */
struct window; /* an attached range of its memory */

/* Makes all memory of this process attachable by processes of the same user. *segment identifies it
 * to them. Later calls return the same segment. */
int windows_show(int64_t *segment);
/* Undoes windows_show, at the end of the program. */
void windows_hide(void);

/* Opens the process of a segment; counted. The last source_leave detaches all its windows. */
int source_enter(int64_t segment, struct source **source);
void source_leave(struct source *source);

/* My address of [address, address + bytes) of that process, valid until window_drop(*window). NULL:
 * it cannot be attached. */
char *window_hold(struct source *source, uint64_t address, size_t bytes, struct window **window);
void window_drop(struct window *window);

#endif
