#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mistakes - can the fuzz targets fail? Each row below is a small mistake in one source file. A copy of the file with the mistake
is compiled and linked into the target as the build does it, and the target has to fail on its corpus.

    mistakes.py [TARGET...]

A mistake whose text is no longer in its file is an error: write it anew."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "unit"))
from mutants import BUILD, COMPLAINTS, replaced  # noqa: E402

# target, file below src, what stands there once, what is there instead
MISTAKES = [
    ("tuning", "tuning/read.c", "length >= (int)sizeof text", "length > (int)sizeof text + 9"),  # a number beyond its array
    ("tuning", "tuning/read.c", "if (used + 1 >= size) return false;", "if (used > size) return false;"),
    ("tuning", "tuning/read.c", "<= most)) continue;", "<= 1e309)) continue;"),
    ("tuning", "tuning/read.c", '!memchr(" \\t\\r\\n", reader->text[i], 4)', '!strchr(" \\t\\r\\n", reader->text[i])'),
    ("tuning", "tuning/match.c", "entries[count++].from = entry->to + 1;", "entries[count++].from = entry->to + 2;"),
    ("tuning", "tuning/write.c", "if (*from == '\"' || *from == '\\\\')", "if (*from == '\"')"),
    ("plan", "plan/text.c", "head > 31", "head > 33"),
    ("plan", "plan/text.c", "if (length < size) memcpy", "if (length < size + 9) memcpy"),
    ("plan", "plan/text.c", '"hybrid(%zu)", copier', '"hybrid(%zuK)", copier'),
    ("plan", "plan/text.c", "return first || length + 1 < sizeof plan->text;", "return true;"),
    ("options", "base/options.c", "value >= least && value <= most", "value >= least && value <= most + 1"),
    ("options", "base/options.c", "value > UINT64_MAX >> shift", "value > UINT64_MAX >> shift << 1"),
    ("options", "base/options_check.c", "if (length > most) return most;", "if (length > most + 9) return most;"),
    ("options", "coll/names.c", "(int)length, list)", "(int)length - (length > 7), list)"),
    ("nodes", "reach/places.c", "lowest[lowest[r]] != lowest[r]", "lowest[lowest[r]] > r"),
    ("nodes", "reach/places.c", "(long)rank * nodes / p", "(long)rank / ((p + nodes - 1) / nodes)"),
    ("nodes", "reach/places.c", "(*end && *end != ',')) return false;", "false) return false;"),
    ("types", "mpi/compile.c", "c_order ? dimensions - 1 - k : k", "!c_order ? dimensions - 1 - k : k"),
    ("types", "mpi/compile.c", "if (type_is_made(contents->type[k])) host", "if (k > 0 && type_is_made(contents->type[k])) host"),
    ("types", "copy/draft.c", "a->loop[skip_a + l].step != b->loop[skip_b + l].step", "a->levels > 4"),
    ("types", "copy/draft.c", "if (way < 0) low += way;", "if (way < -64) low += way;"),
    ("types", "copy/layout.c", "cursor.nest = nest_of(layout, at);", "cursor.nest = at > 200 ? 0 : nest_of(layout, at);"),
    ("types", "copy/grid.c", "row.count = b->count - r < grid->tile ? b->count - r : grid->tile;", "row.count = grid->tile;"),
    ("planner", "coll/far.c", "/ (messages > 1 ? messages : 1)", "/ (messages - 1)"),
    ("planner", "plan/candidates.c", "if (strcmp(list->candidates[i].text, plan.text) == 0) return;", ";"),
    ("planner", "plan/candidates.c", "if (x >= 0 && x != y) return (x > y) - (x < y);",
     "if (x >= 0 && x != y) return (x > y + 1) - (x + 1 < y);"),
    ("planner", "plan/candidates.c", "    memmove(all + 1, all,", "    if (best > 1) memmove(all + 1, all,"),
    ("planner", "plan/rivals.c", "if (strcmp(list->texts[i], text) == 0) return;", "if (i > 0) return;"),
]


def commands(file, target):
    """How the build compiles this file for the target, and links the target."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as text:
        found = [entry["command"] for entry in json.load(text) if entry["file"] == file
                 and ("/unit-asan.dir/" in entry["command"] or "/fuzz-%s-asan.dir/" % target in entry["command"])]
    linked = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "fuzz-%s-asan" % target], capture_output=True, text=True,
                            check=True).stdout.splitlines()[-1]
    words = shlex.split(linked)
    return shlex.split(found[0]), words[words.index("&&") + 1:-2]


def outcome(target, file, text):
    """What the target says when the file is this text: its exit code and its complaint."""
    compile_words, link_words = commands(file, target)
    with tempfile.TemporaryDirectory() as folder:
        source, code, program = (os.path.join(folder, name) for name in ("mistake.c", "mistake.o", "fuzz"))
        with open(source, "w", encoding="utf-8") as written:
            written.write(text)
        words = replaced(replaced(compile_words, "-o", code), "-c", source)
        subprocess.run(words + ["-w", "-I", os.path.dirname(file)], cwd=BUILD, check=True)
        words = [word for word in replaced(link_words, "-o", program) if not word.endswith(file[len(ROOT):] + ".o")]
        library = next(at for at, word in enumerate(words) if word.endswith(".a"))  # before it: then its own is not taken
        subprocess.run(words[:library] + [code] + words[library:], cwd=BUILD, check=True)
        done = subprocess.run([os.path.join(ROOT, "test", "unit", "run"), program, os.path.join(HERE, "corpus", target)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120)
    said = [line for line in done.stdout.splitlines() if any(word in line for word in COMPLAINTS)]
    return done.returncode, said[0] if said else "says nothing"


def judge(target, path, old, new):
    """A complaint about a mistake; None: it is noticed."""
    file = os.path.join(ROOT, "src", path)
    with open(file, encoding="utf-8") as source:
        text = source.read()
    if text.count(old) != 1:
        return "src/%s has %r %d times: write this mistake anew" % (path, old, text.count(old))
    code, said = outcome(target, file, text.replace(old, new))
    print("%-8s %-20s %s" % (target, path, said[:110]), flush=True)
    return "src/%s: %r for %r is not noticed: %s" % (path, new, old, said) if code == 0 else None


def main():
    chosen = [row for row in MISTAKES if not sys.argv[1:] or row[0] in sys.argv[1:]]
    complaints = [complaint for complaint in (judge(*row) for row in chosen) if complaint]
    for complaint in complaints:
        print(complaint)
    print("%d mistakes, %d not noticed" % (len(chosen), len(complaints)))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
