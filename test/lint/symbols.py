# SPDX-License-Identifier: BSD-3-Clause
"""symbols - what the built libraries show, want and need. Shown: MPI names and mortar_*, in the heap the malloc family and more.
Wanted by an engine: no PMPI_ name that libmortar.so catches, for that would come back to mortar. Needed: libc's libraries only,
no MPI library: the program brings it. An engine's memory for each thread is small enough for the 512 bytes that glibc keeps for
libraries which are opened later: where it does not fit, each short call takes 7 ns longer (_dl_tlsdesc_dynamic)."""
import os
import re
import subprocess

from common import files, main

MALLOC = ("malloc calloc realloc reallocarray free memalign aligned_alloc posix_memalign valloc pvalloc malloc_usable_size "
          "mallinfo mallinfo2 mallopt malloc_trim malloc_stats malloc_info").split()
SHOWN = {
    "libmortar.so": r"P?MPI_[A-Z]\w*|mortar_\w+",
    "libmortar-count.so": r"P?MPI_[A-Z]\w*|mortar_untaken",
    "libmortar-ompi.so": r"MPI_[A-Z]\w*|mortar_\w+",
    "libmortar-mpich.so": r"MPI_[A-Z]\w*|mortar_\w+",
    "libmortar-standard.so": r"MPI_[A-Z]\w*|mortar_\w+",
    "libmortar-heap.so": "|".join(MALLOC + ["dlsym", "fork(pty)?", "daemon", "mlockall", "pthread_getattr_np",
                                            r"(set|p)rlimit(64)?", "mmap(64)?", "munmap", "mremap", "madvise", r"mortar_heap_\w+"]),
}
ENGINES = ("libmortar-ompi.so", "libmortar-mpich.so", "libmortar-standard.so")
MOST_THREAD_BYTES = 400
NEEDED = r"(libc|libm|libdl|librt|libpthread|libgcc_s|libatomic|ld-linux\S*)\.so\.\d+"
# What a preloaded library needs is searched for each symbol of the program and its libraries, before these themselves.
NEEDED_EARLY = r"(libc|libdl|librt|libpthread|libatomic)\.so\.\d+"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def names(path, which):
    return {line.split()[-1].split("@")[0] for line in output("nm", "-D", which, path) if line}


def needs(path):
    return {line.split("[")[1].rstrip("]") for line in output("readelf", "-dW", path) if "(NEEDED)" in line}


def thread_bytes(path):
    segments = [line.split() for line in output("readelf", "-lW", path)]
    return sum(int(words[5], 16) for words in segments if words and words[0] == "TLS")


def check(root):
    libraries = {os.path.basename(path): os.path.join(root, path) for path in files(root, [""], tuple(SHOWN))}
    missing = [name for name in ("libmortar.so", "libmortar-heap.so") if name not in libraries]
    findings = ["%s:1: not built below %s" % (name, root) for name in missing]
    if not any(name in libraries for name in ENGINES):
        findings.append("libmortar-*.so:1: no engine is built below %s" % root)
    shown = {name: names(path, "--defined-only") for name, path in libraries.items()}
    caught = {name for name in shown.get("libmortar.so", ()) if name.startswith("PMPI_")}
    for name, path in libraries.items():
        wanted = names(path, "--undefined-only") & caught if name in ENGINES else ()
        if name in ENGINES and thread_bytes(path) > MOST_THREAD_BYTES:
            findings.append("%s:1: has %d bytes for each thread; the limit is %d" % (name, thread_bytes(path), MOST_THREAD_BYTES))
        findings += ["%s:1: shows %s" % (name, symbol) for symbol in sorted(shown[name]) if not re.fullmatch(SHOWN[name], symbol)]
        findings += ["%s:1: wants %s, which libmortar.so catches" % (name, symbol) for symbol in sorted(wanted)]
        allowed = NEEDED if name in ENGINES else NEEDED_EARLY
        findings += ["%s:1: needs %s" % (name, other) for other in sorted(needs(path)) if not re.fullmatch(allowed, other)]
    return findings

def prepare(folder):
    """Compiles every toy X.c into X.so."""
    for path in files(folder, [""], (".c",)):
        source = os.path.join(folder, path)
        libraries = re.findall(r"-l[\w+]+", open(source, encoding="utf-8").read())
        extra = ["-Wl,--no-as-needed", *libraries] if libraries else []
        subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-o", source[:-2] + ".so", source] + extra, check=True)


GOOD = {
    "libmortar.c": "int MPI_Init(void) { return 0; }\nint PMPI_Init(void) { return 0; }\nint mortar_plan(void) { return 0; }\n",
    "libmortar-ompi.c": "int PMPI_Wait(void);\nint MPI_Init(void) { return PMPI_Wait(); }\n",
    "libmortar-heap.c": "void *malloc(unsigned long n) { return 0; }\nint mortar_heap_region(void) { return 0; }\n",
}
BAD = [
    ({"libmortar.c": "int team_of(void) { return 0; }\n"}, "libmortar.so:1: shows team_of"),
    ({"libmortar-mpich.c": "int PMPI_Init(void);\nint MPI_Init(void) { return PMPI_Init(); }\n"}, "wants PMPI_Init"),
    ({"libmortar-ompi.c": "int PMPI_Init(void) { return 0; }\n"}, "libmortar-ompi.so:1: shows PMPI_Init"),
    ({"libmortar-ompi.c": "static _Thread_local char much[500];\nint MPI_Init(int i) { return much[i]++; }\n"},
     "500 bytes for each thread"),
    ({"libmortar-heap.c": "void je_malloc(void) {}\n"}, "libmortar-heap.so:1: shows je_malloc"),
    ({"libmortar-heap.c": "/* -lstdc++ */\n"}, "libmortar-heap.so:1: needs libstdc++.so.6"),
    ({"libmortar-heap.c": "#include <math.h>\ndouble malloc(double x) { return log(x); } /* -lm */\n"},
     "libmortar-heap.so:1: needs libm.so.6"),
    ({"libmortar-ompi.c": None}, "no engine is built"),
    ({"libmortar-heap.c": None}, "libmortar-heap.so:1: not built"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD, prepare)
