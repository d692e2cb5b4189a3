# SPDX-License-Identifier: BSD-3-Clause
"""completes - the completion in an interactive bash on a terminal: a line is typed, then a tab; what the line has become, or what
there is to choose from, is compared."""
import os
import pty
import re
import select
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run  # noqa: E402
from run import Failure  # noqa: E402

START = r"""
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'
bind 'set page-completions off'; bind 'set show-all-if-ambiguous on'; bind 'set colored-stats off'
bind -x '"\C-g": printf "<%%s>\n" "$READLINE_LINE"'
PS1=; unset HISTFILE; %s source '%s'
"""
LINES = [  # what is typed, what the line becomes
    ("mortar ru", "mortar run "),
    ("mortar run --he", "mortar run --heap "),
    ("mortar run --heap of", "mortar run --heap off "),
    ("mortar run --heap=of", "mortar run --heap=off "),
    ("mortar run --off alltoallv,redu", "mortar run --off alltoallv,reduce"),
    ("mortar run --plan dissem", "mortar run --plan dissemination "),
    ("mortar run --plan pull\\(mo", "mortar run --plan pull\\(mo"),  # bash cuts words at a bracket
    ("mortar run --plan 'pull(mo", "mortar run --plan 'pull(morton)' "),
    ("mortar run --option HAND", "mortar run --option HANDOVER="),
    ("mortar run --option HANDOVER=so", "mortar run --option HANDOVER=socket "),
    ("mortar run --option TUNE=on", "mortar run --option TUNE=online "),
    ("mortar bench netw", "mortar bench network "),
    ("mortar bench redistr", "mortar bench redistribution "),
    ("mortar bench network --dr", "mortar bench network --draw "),
    ("mortar bench alltoall --buffers st", "mortar bench alltoall --buffers stack "),
    ("mortar tune --buffers o", "mortar tune --buffers outside "),
    ("mortar model --machine kn", "mortar model --machine knc-5110p "),
    ("mortar model --orders rows,morto", "mortar model --orders rows,morton "),
    ("mortar cores --machine xeon-2", "mortar cores --machine xeon-2x56 "),
    ("mortar info --plans neighbor_alltoallw", "mortar info --plans neighbor_alltoallw "),
    ("mortar info --tuning a-f", "mortar info --tuning a-file "),
    ("mortar site-card --draw a-f", "mortar site-card --draw a-file "),
    ("mortar report a-f", "mortar report a-file "),
    ("mortar run --heap off a-f", "mortar run --heap off a-file "),
    ("mortar run ./program a-f", "mortar run ./program a-file "),
    ("mortar try -n 3 -- a-f", "mortar try -n 3 -- a-file "),
]
CHOICES = [  # what is typed, some of what there is to choose from, and what there is not
    ("mortar ", {"run", "bench", "tune", "info", "doctor", "site-card", "try", "report", "replay", "model"},
     {"alltoall", "--plan"}),
    ("mortar run --plan pu", {"pull(rows)", "pull(hilbert)"}, {"cico"}),
    ("mortar run --", {"--plan", "--report", "--off", "--verify"}, {"--bytes"}),
    ("mortar bench --c", {"--cold", "--csv", "--counters"}, {"--calls"}),
    ("mortar bench communicators --c", {"--csv", "--calls"}, {"--cold"}),
    ("mortar site-card --", {"--minutes", "--ranks", "--draw", "--bytes", "--output"}, {"--csv"}),
    ("mortar tune all", {"alltoall", "allgatherv", "allreduce"}, {"barrier"}),
]


class Bash:
    def __init__(self, folder, before):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", INPUTRC="/dev/null", COLUMNS="300")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.pid = pid
        self.say("stty -echo cols 300\n")
        script = os.path.join(folder, "start")
        with open(script, "w", encoding="utf-8") as file:
            file.write(START % (before, os.path.join(run.BUILD, "packaging", "pages", "mortar")))
        self.say("source '%s'; echo rea''dy\n" % script)
        self.read_until("ready")

    def say(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, pattern):
        heard, end = "", time.monotonic() + 20
        while not re.search(pattern, heard):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise Failure("waited in vain for %r, got %r" % (pattern, heard))
            heard += os.read(self.terminal, 65536).decode("utf-8", "replace")
        return heard

    def complete(self, line):
        """(what the line has become, all that was printed meanwhile)"""
        self.say(line + "\t\x07")
        heard = self.read_until(r"<[^<>]*>\r?\n")
        self.say("\x15")  # the line away
        return re.search(r"<([^<>]*)>\r?\n", heard).group(1), heard

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def check(before):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a-file", "program"):
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                os.chmod(os.path.join(folder, name), 0o755)
        bash = Bash(folder, before)
        for typed, expected in LINES:
            line, heard = bash.complete(typed)
            if line != expected:
                raise Failure("%r became %r, expected %r; printed %r" % (typed, line, expected, heard))
        for typed, there, away in CHOICES:
            words = set(bash.complete(typed)[1].replace("\\", "").split())
            if not there <= words or away & words:
                raise Failure("%r offers %s, expected %s and not %s" % (typed, sorted(words), sorted(there), sorted(away)))
        bash.close()


def test():
    library = "/usr/share/bash-completion/bash_completion"
    check("")
    if os.path.exists(library):
        check("source %s;" % library)
    print("%d lines%s" % (len(LINES) + len(CHOICES), ", with and without bash-completion" * os.path.exists(library)))


run.main(test)
