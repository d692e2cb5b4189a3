# SPDX-License-Identifier: BSD-3-Clause
"""field - a random program as users write them, by mortar's default choice; the program itself knows what every byte must be.
usage: field.py FLAVOUR RANKS SECONDS [NAME=VALUE...] [-- WORD...]
NAME=VALUE: settings of mortar, MORTAR_NAME; WORDs go to the program (see main.c). $MORTAR_TEST_SEED: the seed, else a fresh one.
Now and then it runs natively first, and what goes wrong is played again natively: what fails there as well says nothing of mortar
and skips the test; it belongs into quirks.c."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402


def play(flavour, ranks, seconds, words, settings, native=False):
    program = [run.target("field-" + flavour), *words]
    values = {"MORTAR_TUNE": "watch", "MORTAR_START": "paid"}  # as users have it
    if flavour == "ompi4" and native:
        values["OMPI_MCA_topo"] = "basic"  # else it hangs now and then where it makes a graph; mortar cures that (docs/design.md)
    if native:
        values["MALLOC_PERTURB_"] = "85"  # a library that takes new memory for zeros fails surely, not just beside mortar
    values.update(("MORTAR_" + name, value) for name, value in settings)
    # no report: it would turn mortar's shortcuts off
    return run.run(run.command(flavour, ranks, program, None if native else ()), seconds, values)


def verdict(result):
    said = result.lines("field:")
    return "\n".join(said) if said else "exit code %d and not a word" % result.code


def test(flavour, ranks, seconds, *words):
    run.need(flavour)
    words = list(words)
    cut = words.index("--") if "--" in words else len(words)
    settings, more = [tuple(word.split("=", 1)) for word in words[:cut]], words[cut + 1:]
    seed = int(os.environ.get("MORTAR_TEST_SEED") or random.randrange(1, 10**9))
    if "START" not in dict(settings):  # the program makes few calls on most of its communicators
        settings.append(("START", ("early", "first", "paid")[seed % 3]))
    if "VERIFY" not in dict(settings) and seed % 5 == 0:  # and mortar finds nothing, either
        settings.append(("VERIFY", "5"))
    if "FAN" not in dict(settings) and seed % 3 == 0:  # as on a node with a core for each rank
        settings.append(("FAN", "2"))
    own = ["--seed", str(seed), "--seconds", seconds, *more]
    limit = 3 * int(seconds) + 120
    print("seed %d, %s, %s ranks%s" % (seed, flavour, ranks, "".join(", %s=%s" % pair for pair in settings)), flush=True)
    if seed % 8 == 0:
        result = play(flavour, ranks, limit, own, [], native=True)
        if "field: fine" not in result.out:
            raise run.Skip("seed %d, the MPI library fails by itself; a row for quirks.c?\n%s" % (seed, verdict(result)))
        print("natively " + result.out.strip().split("\n")[-1])
    result = play(flavour, ranks, limit, own, settings)
    if result.code != 0 or "field: fine" not in result.out:
        calls = [int(call) for call in re.findall(r"call (\d+)", result.err)] or [1000]
        again = play(flavour, ranks, limit, ["--seed", str(seed), "--calls", str(max(calls) + 20), *more], [], native=True)
        if "field: fine" not in again.out:
            raise run.Skip("seed %d, the MPI library fails by itself; a row for quirks.c?\n%s\nunder mortar:\n%s" %
                           (seed, verdict(again), verdict(result)))
        result.check(False, verdict(result) + "\nnatively right up to call %d" % max(calls))
    result.check("the MPI library" not in result.err, "a difference that the program did not see:\n" + result.err)
    print(result.out.strip().split("\n")[-1])


if __name__ == "__main__":
    run.main(test)
