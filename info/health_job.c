/* SPDX-License-Identifier: BSD-3-Clause */
/* health_job - what concerns a job: how the batch system counts memory, and what jobs that were
 * killed have left in /dev/shm. mortar's own memory has no name and ends with its processes. */
#define _GNU_SOURCE
#include "info/health.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The value of a line "Name = value" of scontrol's; empty: there is none. */
static void setting_of(const char *line, const char *name, char *value, size_t size) {
    const char *at = strstr(line, name), *sign = at ? strchr(at, '=') : NULL;
    if (at != line || !sign) return;
    snprintf(value, size, "%s", sign + 1 + strspn(sign + 1, " "));
    value[strcspn(value, " \n")] = 0;
}

void health_batch(struct findings *all) {
    char line[512], type[64] = "", how[128] = "", use[] = "JobAcctGatherParams=UsePss";
    if (!getenv("SLURM_JOB_ID")) return;
    FILE *answer = popen("scontrol show config 2>/dev/null", "re");
    while (answer && fgets(line, sizeof line, answer)) {
        setting_of(line, "JobAcctGatherType", type, sizeof type);
        setting_of(line, "JobAcctGatherParams", how, sizeof how);
    }
    if (answer) pclose(answer);
    char cure[160];
    snprintf(cure, sizeof cure, "ask the administrator for %s, or leave room in --mem", use);
    bool kills = strcasestr(how, "OverMemoryKill") != NULL;
    if (!*type)
        found(
            all, YELLOW, "Slurm accounting", cure,
            "not known: scontrol does not answer; pages that ranks share may count once for each");
    else if (strcasestr(type, "linux") && !strcasestr(how, "UsePss"))
        found(all, kills ? RED : YELLOW, "Slurm accounting", cure,
              "%s, %s: a page that ranks share counts once for each of them%s", type, how,
              kills ? ", and the job is killed for it" : "");
    else found(all, GREEN, "Slurm accounting", NULL, "%s, %s", type, how);
}

/* Is it the name that an MPI library gives to memory of its own? */
static bool is_of_mpi(const char *name) {
    static const char *const begins[] = {"vader_segment", "sm_segment", "mpich_",   "psm2_shm",
                                         "Intel_MPI",     "ucx_shm",    "osc_rdma", "mpi_shar"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

void health_left(struct findings *all) {
    static const long day = 24 * 60 * 60;
    int count = 0;
    double bytes = 0;
    DIR *folder = opendir("/dev/shm");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        struct stat facts;
        if (!is_of_mpi(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
            facts.st_uid != getuid() || time(NULL) - facts.st_mtime < day)
            continue;
        count++, bytes += (double)facts.st_blocks * 512;
    }
    if (folder) closedir(folder);
    if (count > 0)
        found(all, YELLOW, "left behind", "remove them, if no job of yours runs here",
              "%d files of MPI libraries in /dev/shm, %.4g MiB, older than a day", count,
              bytes / (1 << 20));
    else
        found(all, GREEN, "left behind", NULL,
              "nothing: mortar's memory has no names, and /dev/shm has no old files of yours");
}
