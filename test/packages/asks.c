/* SPDX-License-Identifier: BSD-3-Clause */
/* asks - a program that asks mortar something, linked with -lmortar. Rank 0 says what it hears. */
#include <mortar.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
    int me, p, sent[64] = {0}, received[64];
    char plans[4096] = "";
    uint64_t calls = 7, differences = 7;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (p > 64) MPI_Abort(MPI_COMM_WORLD, 1);
    int forced = mortar_plan("cico"), wrong = mortar_plan("no plan");
    for (int i = 0; i < 3; i++)
        MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    int found = mortar_plans("alltoall", 8, 0, plans, sizeof plans);
    int verified = mortar_verified(&calls, &differences);
    int reported = mortar_report(count > 1 ? words[1] : "-");
    const char *version = mortar_version();
    if (me == 0)
        printf("version=%s plan=%d wrong=%d plans=%d first=%.*s verified=%d calls=%d report=%d\n",
               version ? version : "none", forced, wrong, found, (int)strcspn(plans, "\n"), plans,
               verified, (int)calls, reported);
    MPI_Finalize();
    return 0;
}
