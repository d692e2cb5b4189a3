#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutants - can unit-rows and unit-schedules fail? Each row below is a small mistake in one source file: a byte that is lost, a
block that is left out, a rank that does not wait. A copy of the file with the mistake is compiled and linked as the test is, and
the test has to fail: plain, under the address sanitizer and under the thread sanitizer. There is at least one for each family of
collectives that a folder of src/coll serves. Those of SCHEDULES are for unit-schedules, which has no sanitizer.

    mutants.py [WORD...]    only those whose file contains one of the words

A mutant whose text is no longer in its file is an error: write it anew."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("MORTAR_BUILD", os.path.join(ROOT, "build", "release"))
VARIANTS = {"plain": "", "asan": "-asan", "tsan": "-tsan"}
COMPLAINTS = ("FAILED: ", "ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error: ")
SEED, ROUNDS, SECONDS = "1", "2", 240
USERS = {  # whose plans go through a file that has no row
    "staged": "cico",
    "offers": "pull",
    "vector": "pull",
    "reduce": "combine",
    "lanes": "aggregate",
    "counted": "cico",
    "notes": "pull",
    "spread": "distribute",
    "routes": "aggregate",
    "universal_rooted": "universal",
    "universal_reduced": "universal",
}

# (collectives that go wrong, file below src/coll, what stands there once, what the mutant has instead)
MUTANTS = [
    ("exchange", "node/staged.c", "(size_t)i * n + at, from, length)", "(size_t)i * n + at, from, length - 1)"),
    ("exchange", "node/notes.c", "at += (uint32_t)length;", "at += (uint32_t)length - (length > 0);"),
    ("exchange", "node/counted.c", "&mine, place.data, *place.bytes)", "&mine, place.data, *place.bytes / 2)"),
    ("exchange", "node/pull.c", "written. */\n    sync_all(team, 0);\n", "written. */\n"),
    ("neighbours", "node/vector.c", "neighbours && e < neighbours->from_count; e++)",
     "neighbours && e < neighbours->from_count - 1; e++)"),
    ("rooted", "node/tape.c", "memcpy(block.at, from, bytes)", "memcpy(block.at, from, bytes - (bytes > 0))"),
    ("rooted", "node/mailbox.c", "to.at, to.layout, to.elements, from", "to.at, to.layout, to.elements - (to.elements > 0), from"),
    ("reductions", "reduce.c", "for (uint32_t i = 0; i < count; i++)", "for (uint32_t i = 1; i < count; i++)"),
    ("reductions", "node/slices.c", "strip, count);\n    return", "strip, count - (count > 1));\n    return"),
    ("reductions", "node/slices.c", "memcpy(to, vector_at(task, last, at), count * reduction->bytes)",
     "memcpy(to, vector_at(task, last, at), count * reduction->bytes - 1)"),
    ("reductions", "node/arrival.c", "memcpy(result, from, load->bytes)", "memcpy(result, from, load->bytes - 1)"),
    ("reductions", "node/apiece.c", "r = team->p - 2;", "r = team->p - 3;"),
    ("reductions", "node/chain.c", "memcpy(call->recv, own, bytes)", "memcpy(call->recv, own, bytes - (bytes > 0))"),
    ("never drawn", "node/tape.c", "return calls->largest.bytes <= (", "return calls->largest.bytes > (size_t)1 << 40 && 0 < ("),
    ("barrier", "node/central.c", "    sync_all(team, 0);\n", ""),
    ("exchange", "flat/ring.c", "k < p; k++", "k < p - 1; k++"),
    ("exchange", "flat/doubling.c", "gathering_came(g, theirs, h);", "gathering_came(g, theirs, h - 1);"),
    ("exchange", "flat/pairwise.c", "in.at, in.bytes, TAG", "in.at, in.bytes - (in.bytes > 0), TAG"),
    ("exchange", "flat/direct.c", "source, run.at, run.bytes, TAG", "source, run.at, run.bytes - (run.bytes > 0), TAG"),
    ("rooted", "flat/direct.c", "root, mine.at, mine.bytes, TAG);\n    else",
     "root, mine.at, mine.bytes - (mine.bytes > 0), TAG);\n    else"),
    ("rooted", "flat/binomial.c", "message_send(team, (me + bit + call->root) % p, run.at, run.bytes,",
     "message_send(team, (me + bit + call->root) % p, run.at, run.bytes - (run.bytes > 0),"),
    ("reductions", "flat/recursive.c", "if (right) w->", "if (!right) w->"),
    ("reductions", "flat/fold.c", "*mine, *theirs, count)", "*mine, *theirs, count - 1)"),
    ("reductions", "flat/halving.c", "part.count * t->reduction->bytes);\n",
     "part.count * t->reduction->bytes - (part.count > 0));\n"),
    ("reductions", "flat/prefix.c", "if (!exclusive && !messages_lost(team)) memcpy(result, mine, bytes)",
     "if (!exclusive && !messages_lost(team)) memcpy(result, mine, bytes - 1)"),
    ("barrier", "flat/dissemination.c", "far < p; far *= 2", "far < 2 && far < p; far *= 2"),
    ("exchange", "nodes/lanes.c", "if (out->straight[k]) continue;", "if (out->straight[k] || k == 0) continue;"),
    ("exchange", "nodes/spread.c", "unpack_block(&joint, &block, s->in", "if (r > 0) unpack_block(&joint, &block, s->in"),
    ("exchange", "nodes/overlap.c", "unpack_block(joint, &block, o->area + o->starts[i]);",
     "if (i > 0) unpack_block(joint, &block, o->area + o->starts[i]);"),
    ("exchange", "nodes/exchange.c", "places->local_of[r]] = (int64_t)run.bytes;",
     "places->local_of[r]] = (int64_t)run.bytes - (run.bytes > 0);"),
    ("neighbours", "nodes/routes.c", "int block = (int)edge->in;", "int block = (int)edge->in / 2 * 2;"),
    ("rooted", "nodes/universal_rooted.c", "layout_pack(to, block.at, block.layout, block.elements)",
     "layout_pack(to, block.at, block.layout, block.elements - (block.elements > 0))"),
    ("reductions", "nodes/universal_reduced.c", "mine = {0, reduction->count}", "mine = {0, reduction->count / 2}"),
    ("reductions", "nodes/tardy.c", "theirs, t->own, t->load.count)", "theirs, t->own, t->load.count - 1)"),
    ("barrier", "nodes/universal.c", "    job_meet(job, false);\n", ""),
]

# Mistakes in schedules: what unit-schedules then says, file, text, mutant
SCHEDULES = [
    ("all ranks wait", "flat/pairwise.c", "message_recv(team, source, in.at, in.bytes, TAG);\n            message_send(",
     "message_send(team, dest, out.at, out.bytes, TAG), messages_finish(team, mark);\n"
     "            message_recv(team, source, in.at, in.bytes, TAG);\n            if (0) message_send("),
    ("all ranks wait", "flat/binomial.c", "if (me + bit < p) message_send", "if (me + bit < p - 1) message_send"),
    ("rounds instead of", "flat/pairwise.c", "arguments->number ? (int)arguments->number : 1;\n    bool", "1;\n    bool"),
    ("bytes of scratch", "flat/rounds.c", "far_take(r->team, bytes)", "far_take(r->team, 16 * bytes)"),
    ("twice", "flat/gathers.c", "count = h < p - h ? h : p - h", "count = h"),
]


def commands(file, variant, test="unit-rows"):
    """How the build compiles this file for the unit tests of the variant, and links the test."""
    library = "unit%s.dir/" % VARIANTS[variant]
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as text:
        found = [entry for entry in json.load(text) if entry["file"] == file and library in entry["command"]]
    linked = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", test + VARIANTS[variant]], capture_output=True,
                            text=True, check=True).stdout.splitlines()[-1]
    words = shlex.split(linked)
    return shlex.split(found[0]["command"]), words[words.index("&&") + 1:-2]


def replaced(words, after, new):
    at = words.index(after) + 1
    return words[:at] + [new] + words[at + 1:]


def outcome(variant, file, text, words, test="unit-rows"):
    """What the test, with these words, says when the file is this text: its exit code and its complaint."""
    tested = words
    compile_words, link_words = commands(file, variant, test)
    with tempfile.TemporaryDirectory() as folder:
        source, code, program = (os.path.join(folder, name) for name in ("mutant.c", "mutant.o", "unit-rows"))
        with open(source, "w", encoding="utf-8") as written:
            written.write(text)
        words = replaced(replaced(compile_words, "-o", code), "-c", source)
        subprocess.run(words + ["-w", "-I", os.path.dirname(file)], cwd=BUILD, check=True)
        words = replaced(link_words, "-o", program)
        library = next(at for at, word in enumerate(words) if word.endswith(".a"))  # before it: then its own is not taken
        subprocess.run(words[:library] + [code] + words[library:], cwd=BUILD, check=True)
        try:
            done = subprocess.run([os.path.join(HERE, "run"), program, SEED, *tested], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None, "still running after %d s" % SECONDS
        said = [line for line in done.stdout.splitlines() if any(word in line for word in COMPLAINTS)]
        return done.returncode, said[0] if said else "says nothing"


def judge(what, path, old, new, scheduled=False):
    """Complaints about a mutant."""
    file, text = os.path.join(ROOT, "src", "coll", path), ""
    if os.path.exists(file):
        with open(file, encoding="utf-8") as source:
            text = source.read()
    if text.count(old) != 1:
        return ["src/coll/%s has %r %d times: write this mutant anew" % (path, old, text.count(old))]
    complaints, name, mutant = [], os.path.basename(path)[:-2], text.replace(old, new)
    if scheduled:
        code, said = outcome("plain", file, mutant, ["1000"], "unit-schedules")
        print("%-25s %-25s %s" % (what, path, said[:110]), flush=True)
        return [] if code not in (None, 0) and what in said else ["src/coll/%s: %r is not found: %s" % (path, new, said)]
    for variant in VARIANTS:
        code, said = outcome(variant, file, mutant, [ROUNDS, USERS.get(name, name)])
        print("%-11s %-25s %-5s %s" % (what, path, variant, said[:110]), flush=True)
        if code in (None, 0):
            complaints.append("src/coll/%s, %s: %r for %r is not noticed: %s" % (path, variant, new, old, said))
    return complaints


def main():
    every = [(*mutant, False) for mutant in MUTANTS] + [(*mutant, True) for mutant in SCHEDULES]
    chosen = [m for m in every if not sys.argv[1:] or any(word in m[1] for word in sys.argv[1:])]
    complaints = []
    file = os.path.join(ROOT, "src", "coll", "flat", "ring.c")
    with open(file, encoding="utf-8") as source:
        text = source.read()
    for variant in VARIANTS:  # built in the same way without a mistake it passes
        code, said = outcome(variant, file, text, [ROUNDS, "ring"])
        if code != 0:
            complaints.append("without a mutant, %s: %s" % (variant, said))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for more in pool.map(lambda mutant: judge(*mutant), chosen):
            complaints += more
    for complaint in complaints:
        print(complaint)
    print("%d mutants, those of unit-rows plain and under two sanitizers: %d not noticed" % (len(chosen), len(complaints)))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
