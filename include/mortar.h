/* SPDX-License-Identifier: BSD-3-Clause */
/* mortar.h - what a program may ask of mortar. No program needs it: mortar takes MPI's collectives
 * without being called. Link with -lmortar (pkg-config mortar, or find_package(mortar) in CMake): a
 * static library that looks for libmortar.so in the process, so the same program also starts where
 * there is no mortar. Under `mortar run` the functions work; else each says that it cannot. Or look
 * the names up with dlsym: they are there whenever `mortar run` started the program. Errors are
 * negative errno values. Nothing here is collective unless it says so. */
#ifndef MORTAR_H
#define MORTAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTAR_VERSION "0.1.0"

/* The version of the library that is loaded, for instance "0.1.0". Static storage. With -lmortar
 * NULL if none is. */
const char *mortar_version(void);

/* Forces the plan of every later collective, as MORTAR_PLAN does ("pull(morton)", "native" ...), on
 * communicators that have been used and on new ones; NULL gives the choice back to mortar.
 * Collective in effect: every rank must ask for the same text before its next collective call.
 * -EINVAL: the text is no plan; the plan in force stays. -ENOSYS: no MPI has been taken. */
int mortar_plan(const char *plan);

/* Which plans are worth a comparison for a collective ("alltoall") with blocks of so many bytes (of
 * the mean block, where ranks have counts of their own) over MPI_COMM_WORLD: written into
 * texts[size], one a line, each a text for mortar_plan. The model's choice and "native" come first,
 * then what is likely to win, then all others, what the model holds for the cheapest first.
 * outside: not 0 for buffers outside the shared heap. As many as fit; a line has at most 64 bytes.
 * Returns how many; -EINVAL: no such collective, or no room; -ENOSYS: no MPI has been taken;
 * -ENOMEM. The same on all ranks. Collective over MPI_COMM_WORLD. Between MPI_Init and MPI_Finalize
 * only. */
int mortar_plans(const char *collective, size_t bytes, int outside, char *texts, size_t size);

/* Writes the report of what ran so far to a file, or to standard error when path is "-". Collective
 * over MPI_COMM_WORLD; rank 0 writes. Between MPI_Init and MPI_Finalize only. Returns 0, or a
 * negative errno on the rank that writes. */
int mortar_report(const char *path);

/* How many calls of this process mortar has had run again by the MPI library so far (option
 * MORTAR_VERIFY), and in how many of them the results differed, on any rank. 0, or -ENOSYS: no MPI
 * has been taken. */
int mortar_verified(uint64_t *calls, uint64_t *differences);

/* How many calls of this process mortar has examined so far. It remembers calls that come again,
 * and runs one that looks like them without examining it, which takes some 0.1 us. With a report it
 * examines all. 0, or -ENOSYS: no MPI has been taken. */
int mortar_examined(uint64_t *calls);

#ifdef __cplusplus
}
#endif
#endif
