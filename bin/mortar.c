/* SPDX-License-Identifier: BSD-3-Clause */
/* mortar - the command. `mortar run` is part of every rank's start, so it is a small program that
 * starts nothing else: it preloads mortar's libraries into the program and becomes it. The other
 * commands are in a shell script beside the libraries (bin/tools). */
#define _GNU_SOURCE
#include "command.h"

#include "coll/coll.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: mpirun -n P mortar run [OPTION...] PROGRAM [ARGUMENT...]    a program, whose collectives mortar takes\n"
    "       mpirun -n P mortar bench COLLECTIVE [OPTION...]        collectives against the MPI library's own; --help\n"
    "       mpirun -n P mortar bench network [OPTION...]           the network between two nodes; network --help\n"
    "       mpirun -n P mortar bench communicators [OPTION...]     communicators that live for a few calls; communicators --help\n"
    "       mpirun -n P mortar tune [COLLECTIVE...] [OPTION...]    measures plans, writes a tuning file (MORTAR_TUNING)\n"
    "       mortar tune --merge OUT FILE...\n"
    "       mortar info [--plan \"COLLECTIVE NODESxRANKS BYTES\" | --plans COLLECTIVE [nodes] | --orders [RANKS [DOMAINS]] |\n"
    "                    --tuning FILE | --merge OUT FILE...]    options, algorithms, this machine\n"
    "       mpirun -n P mortar doctor [--json] [PROGRAM]    is there what mortar needs, on every rank, and if not, what to do\n"
    "       mpirun -n P mortar site-card [OPTION...]    what this machine is and what mortar gains on it, to send (site-card --help)\n"
    "       mortar site-card --draw CARD.json [-o PICTURE]\n"
    "       mortar try [-n RUNS] -- mpirun -n P PROGRAM [ARGUMENT...]    natively and under mortar, in turns (mortar try --help)\n"
    "       mortar report FILE.json [OTHER.json]    a page with pictures of a report, or of two side by side (mortar report --help)\n"
    "       mpirun -n P mortar replay FILE    a call again that MORTAR_VERIFY has saved (mortar replay --help)\n"
    "       mortar model [OPTION...]    cache misses of collectives, simulated (mortar model --help)\n"
    "       mortar cores [OPTION...] [COLLECTIVE...]    collectives on a node with a core for each rank, simulated (mortar cores --help)\n"
    "       mortar predict --platform FILE|NxM --collective C [OPTION...]    collectives on a cluster, simulated (mortar predict --help)\n"
    "       mortar --version    which mortar this is\n"
    "\n"
    "run options (each sets an environment variable; `mortar info` explains them all)\n"
    "  --plan PLAN          force a plan, e.g. 'pull(morton)', cico, native      MORTAR_PLAN\n"
    "  --report -|FILE      say at the end what ran: a table, or a JSON file     MORTAR_REPORT\n"
    "  --heap on|off|aside  let malloc's memory be shared with other ranks       MORTAR_HEAP\n"
    "  --verify N           let the MPI library run every N-th call too, compare MORTAR_VERIFY\n"
    "  --off COLLECTIVES    leave these to the MPI library, e.g. alltoall        MORTAR_OFF\n"
    "  --verbose 0|1|2      how much to say                                      MORTAR_VERBOSE\n"
    "  --option NAME=VALUE  any other option, e.g. WAIT=futex                    MORTAR_NAME\n"
    "\n"
    "MORTAR_MPI=FILE in the environment names the MPI library that `mortar bench`, `tune`, `doctor`, `site-card` and\n"
    "`replay` open, such as libmpi.so.40, in place of the one that they find.\n";

static bool is_first_rank(void) { return launcher_rank() <= 0; }

static bool alike; /* what is wrong now is wrong on all ranks: the first one says it */

void fail(const char *format, ...) {
    va_list list;
    /* A launcher ends all ranks when one has failed: the first is to say it before. */
    if (alike && !is_first_rank()) sleep(1), exit(2);
    fputs("mortar: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(2);
}

void say(const char *format, ...) {
    va_list list;
    if (!is_first_rank()) return;
    fputs("mortar: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

char *text(const char *format, ...) {
    char *result;
    va_list list;
    va_start(list, format);
    if (vasprintf(&result, format, list) < 0) fail("out of memory");
    va_end(list);
    return result;
}

void set(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0) fail("out of memory");
}

/* ---- where mortar is ---- */

static char self[PATH_MAX];
static char *libraries; /* their folder */

/* The prefix of PREFIX/bin/NAME. */
static char *prefix_of(const char *program) {
    char *prefix = text("%s", program);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        if (slash) *slash = 0;
    }
    return prefix;
}

/* The folder of mortar's libraries, if `program` lies where an installation has its command. NULL:
 * there are none. */
static char *libraries_of(const char *program) {
    static const char *const below[] = {"lib/mortar", "lib", LIBRARY_FOLDER "/mortar",
                                        "lib64/mortar"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        char *folder = text("%s/%s", prefix_of(program), below[i]);
        if (access(text("%s/libmortar.so", folder), F_OK) == 0) return folder;
    }
    return NULL;
}

static void find_libraries(void) {
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length >= 0) self[length] = 0;
    else if (!realpath((const char *)getauxval(AT_EXECFN), self)) /* without /proc */
        fail("/proc/self/exe cannot be read, so mortar's libraries cannot be found: mount /proc");
    libraries = libraries_of(self);
    if (!libraries)
        fail("libmortar.so is not below %s/lib: build or install mortar first", prefix_of(self));
}

/* ---- run ---- */

static bool is_program(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

/* The file that the C library's execvp would start. NULL: none. */
static const char *find_program(const char *name) {
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) return is_program(name) ? name : NULL;
    for (const char *at = folders ? folders : "/bin:/usr/bin"; at;) {
        int length = (int)strcspn(at, ":");
        char *path = text("%.*s%s%s", length, at, length ? "/" : "", name);
        if (is_program(path)) return path;
        free(path);
        at = at[length] ? at + length + 1 : NULL;
    }
    return NULL;
}

/* Does the dynamic linker replace a part of this path? */
static bool has_token(const char *path) {
    static const char *const tokens[] = {"ORIGIN", "LIB", "PLATFORM"};
    for (const char *at = path; (at = strchr(at, '$')); at++)
        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
            if (strncmp(at + 1 + (at[1] == '{'), tokens[i], strlen(tokens[i])) == 0) return true;
    return false;
}

/* LD_PRELOAD is cut at blanks and colons, and nothing escapes them. A library without a folder is
 * looked for in LD_LIBRARY_PATH, which is not cut at blanks. After what the user preloads: a
 * profiler above mortar sees every call, and a malloc that was asked for is served. In place of the
 * libraries that a site preloads, or another mortar: its heap may be the one thing that the program
 * cannot bear, and two mortars would write two reports. */
static void preload(void) {
    launcher_unpreload();
    const char *folder = text("%s/", libraries), *before = getenv("LD_PRELOAD"),
               *search = getenv("LD_LIBRARY_PATH"), *heap = getenv("MORTAR_HEAP"),
               *report = getenv("MORTAR_REPORT");
    bool blank = strchr(libraries, ' ') != NULL;
    if (strchr(libraries, ':') || has_token(libraries) || (blank && strchr(libraries, ';')))
        fail("run: the dynamic linker cannot preload from \"%s\", whose name has a colon, one of "
             "$ORIGIN, $LIB, $PLATFORM, or a blank and a semicolon: install mortar in another "
             "folder",
             libraries);
    if (blank) {
        folder = "";
        bool more = search && *search;
        set("LD_LIBRARY_PATH", text("%s%s%s", libraries, more ? ":" : "", more ? search : ""));
    }
    bool more = before && *before;
    bool shared = (!heap || strcmp(heap, "off") != 0) && /* built without jemalloc there is none */
                  access(text("%s/libmortar-heap.so", libraries), F_OK) == 0;
    const char *own = text("%slibmortar.so", folder);
    if (shared) own = text("%slibmortar-heap.so:%s", folder, own);
    if (report && *report) own = text("%s:%slibmortar-count.so", own, folder);
    set("LD_PRELOAD", text("%s%s%s", more ? before : "", more ? ":" : "", own));
}

/* `mortar run mortar ...`, as where a site's wrapper and a user both write it: the second one looks
 * by itself, and may be of another installation. */
static bool is_mortar(const char *path) {
    char real[PATH_MAX];
    return realpath(path, real) && strcmp(strrchr(real, '/'), "/mortar") == 0 && libraries_of(real);
}

/* The program, and what else the words name by a path, if it may be a wrapper that starts it
 * (taskset, env, gdb --args): no program of MPI, and none of mortar's own, which open MPI. */
static bool all_suit(char **word, const char *path) {
    struct program_facts facts = program_look(path);
    bool fine = suits(*word, &facts), own = strncmp(path, libraries, strlen(libraries)) == 0;
    if (own || facts.mpi) return fine;
    for (word++; fine && *word; word++) {
        if (!strchr(*word, '/') || !is_program(*word)) continue;
        if (is_mortar(*word)) break;
        /* A library has none, nor has a static program, which takes nothing from LD_PRELOAD. */
        facts = program_look(*word);
        if (*facts.interpreter) fine = suits(*word, &facts);
    }
    return fine;
}

/* list: collectives by commas, or all. */
static void check_collectives(const char *list) {
    char wrong[32];
    collectives_in(list, wrong);
    if (!*wrong) return;
    const char *meant = collective_like(wrong);
    if (meant) fail("--off: %s is no collective: did you mean %s?", wrong, meant);
    fail("--off: %s is no collective that mortar takes, nor is it all", wrong);
}

/* Written by the first rank when all is done, so what is wrong is said now. It is no error: the
 * program may make the folder, or the launcher start ranks where there is one. */
static void check_report(const char *path) {
    struct stat facts;
    bool there = stat(path, &facts) == 0, folder = there && S_ISDIR(facts.st_mode);
    const char *place = there ? path : dirname(text("%s", path));
    if (strcmp(path, "-") == 0 || (!folder && access(place, there ? W_OK : W_OK | X_OK) == 0))
        return;
    say("--report %s: %s here: if it is so at the end, too, there will be no report", path,
        strerror(folder ? EISDIR : errno));
}

/* variable: MORTAR_NAME */
static void set_option(const char *variable, const char *value) {
    bool meant;
    enum option nearest = options_nearest(variable + strlen("MORTAR_"), &meant);
    const struct option_row *row = &option_rows[nearest];
    bool exact = strcmp(variable, row->name) == 0;
    if (!exact && meant) fail("%s is no option: did you mean %s?", variable, row->name);
    if (!exact) fail("%s is no option (mortar info lists them)", variable);
    if (!options_fits(nearest, value))
        fail("%s=%s: expected %s (mortar info explains it)", variable, value, row->unit);
    if (nearest == OPTION_OFF) check_collectives(value);
    if (nearest == OPTION_REPORT && *value) check_report(value);
    set(variable, value);
}

/* --option NAME=VALUE */
static void set_named(const char *given) {
    const char *end = strchr(given, '=');
    if (!end || !isupper((unsigned char)*given))
        fail("--option %s: expected NAME=VALUE, e.g. WAIT=futex (mortar info lists the names)",
             given);
    const char *name = strncmp(given, "MORTAR_", 7) == 0 ? given + 7 : given;
    set_option(text("MORTAR_%.*s", (int)(end - name), name), end + 1);
}

/* Sets the variable of an option of `mortar run`. */
static void set_given(const char *option, size_t length, const char *value) {
    static const struct {
        const char *option, *variable;
    } known[] = {
        {"--plan", "MORTAR_PLAN"}, {"--report", "MORTAR_REPORT"}, {"--heap", "MORTAR_HEAP"},
        {"--off", "MORTAR_OFF"},   {"--verify", "MORTAR_VERIFY"}, {"--verbose", "MORTAR_VERBOSE"},
        {"--option", NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].option) != length || strncmp(option, known[i].option, length) != 0)
            continue;
        if (!value) fail("%s needs a value (mortar --help)", option);
        if (!*value)
            fail("%.*s: its value is empty (a variable that is not set?)", (int)length, option);
        if (known[i].variable) set_option(known[i].variable, value);
        else set_named(value);
        return;
    }
    fail("unknown option %.*s (mortar --help)", (int)length, option);
}

/* Becomes `reader`, with a file to read and the words that follow. Returns if it cannot. */
static void become_reader(const char *reader, const char *file, char **rest) {
    size_t count = 0;
    while (rest[count]) count++;
    char **words = calloc(count + 3, sizeof *words);
    if (!words) fail("out of memory");
    words[0] = (char *)(uintptr_t)reader;
    words[1] = (char *)(uintptr_t)file;
    memcpy(words + 2, rest, count * sizeof *words);
    execv(reader, words);
}

/* As glibc's execvp does: a file that is neither a program nor says what reads it is a script for
 * the shell. Returns if it cannot. */
static void become(const char *path, char **word) {
    execv(path, word);
    if (errno == ENOEXEC) become_reader("/bin/sh", path, word + 1);
}

/* The system has not started a file that is there. What it misses is then not that file. */
static void __attribute__((noreturn)) refused(const char *word, const char *path, int error) {
    struct program_facts facts = program_look(path);
    char why[2 * sizeof facts.reader];
    if (program_lacks_reader(&facts, word, why, sizeof why)) fail("run: %s: %s", word, why);
    if (error == ENOENT && *facts.interpreter)
        fail("run: %s: %s, its dynamic linker, is not there", word, facts.interpreter);
    fail("run: %s: %s", word, strerror(error));
}

/* For a message, if the program was taken for the value of an option. word: behind the options. */
static const char *taken_program(const char *option, char **word) {
    if (!option || !find_program(word[-1])) return "";
    return text(" (%s took %s as its value)", option, word[-1]);
}

/* word: what follows `run`. --NAME VALUE or --NAME=VALUE, up to the first word without a dash. */
static void __attribute__((noreturn)) run(char **word) {
    const char *taken = NULL; /* the last option that has the next word as its value */
    alike = true;
    for (; *word && **word == '-'; word++) {
        if (strcmp(*word, "--help") == 0 || strcmp(*word, "-h") == 0)
            exit(fputs(usage, stdout) < 0);
        if (strcmp(*word, "--") == 0) {
            word++;
            break;
        }
        size_t length = strcspn(*word, "=");
        if ((*word)[length]) set_given(*word, length, *word + length + 1);
        else set_given(*word, length, word[1]), taken = *word++;
    }
    if (!*word) fail("run: which program?%s (mortar --help)", taken_program(taken, word));
    alike = false;
    const char *path = find_program(*word);
    if (!path && access(*word, F_OK) == 0)
        fail(
            "run: %s is not a program: it may not be executed, or is not in PATH; a script: mortar run python3 %s",
            *word, *word);
    if (!path)
        fail("run: %s: no such file%s%s", *word,
             strchr(*word, '/') ? "" : ", and no program of that name in PATH",
             taken_program(taken, word));
    if (!is_mortar(path) && all_suit(word, path)) preload();
    become(path, word);
    refused(*word, path, errno);
}

int main(int count, char **word) {
    static const char *const others[] = {"bench",  "tune",    "info",      "model",
                                         "cores",  "predict", "try",       "replay",
                                         "doctor", "report",  "site-card", "--version"};
    const char *command = count > 1 ? word[1] : "";
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0 ||
        strcmp(command, "help") == 0)
        return fputs(usage, stdout) < 0;
    if (!*command) return fputs(usage, stderr), 2;
    find_libraries();
    if (strcmp(command, "run") == 0) run(word + 2);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(command, others[i]) != 0) continue;
        char *tools = text("%s/mortar-tools", libraries);
        become_reader(tools, self, word + 1);
        fail("%s: %s", tools, strerror(errno));
    }
    fail(
        "unknown command \"%s\": expected run, try, doctor, site-card, bench, tune, replay, report, model, cores, predict or info (mortar --help)",
        command);
}
