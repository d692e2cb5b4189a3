/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.h - private to reach/: parts of other processes' memory that are attached here through
 * XPMEM. Shared by all teams of this process, thread safe. Errors are -errno. */
#ifndef MORTAR_WINDOWS_H
#define MORTAR_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

struct source; /* another process */
struct window; /* an attached range of its memory */

/* Shows all of this process's memory to processes of the same user; once, whoever asks. *segment is
 * its name for others. */
int windows_show(int64_t *segment);
/* At the end of the program: shows it no more. */
void windows_hide(void);

/* The process of a segment, counted. source_leave, as often as it was entered, detaches all its
 * windows. */
int source_enter(int64_t segment, struct source **source);
void source_leave(struct source *source);

/* Where [address, address + bytes) of that process lies in mine, until window_drop. NULL: it cannot
 * be attached. */
char *window_hold(struct source *source, uint64_t address, size_t bytes, struct window **window);
void window_drop(struct source *source, struct window *window);

#endif
