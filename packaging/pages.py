# SPDX-License-Identifier: BSD-3-Clause
"""pages - the pages of the manual and the completion for bash: pages.py MORTAR FOLDER writes FOLDER/man1/*.1 and FOLDER/mortar.
All that they say comes from texts.py, which asks the built command."""
import os
import re
import subprocess
import sys
import textwrap
import time

import completion
import texts

HERE = os.path.dirname(os.path.abspath(__file__))
START = {"mortar": "makes MPI collectives faster, from outside the program"}
EXPLAINED = ("PLAN is written name(argument, ...): `mortar info` has the names. Every option is an environment variable, too: see "
             "ENVIRONMENT. The program is not changed: what mortar cannot do, or the MPI library does faster, the library does.")


def escape(text):
    """For groff: a minus that can be typed again, quotes and accents as they are."""
    for character, escaped in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(character, escaped)
    return "\\&" + text if text.startswith(".") else text


def quoted(text):
    return '"%s"' % text.replace('"', "\\(dq")


def filled(text):
    """Text that is filled again, in short lines."""
    return [escape(line) for line in textwrap.wrap(text, 72, break_on_hyphens=False, break_long_words=False)]


def date():
    """Of the commit, so that the same sources give the same pages: as `make dist` has written it into the file, or as git says;
    else the present day."""
    with open(os.path.join(HERE, "commit"), encoding="utf-8") as file:
        words = file.read().split()
    if words[0].startswith("$"):
        words = subprocess.run(["git", "-C", HERE, "log", "-1", "--format=%H %cs"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, encoding="utf-8", check=False).stdout.split()
    if len(words) == 2:
        return words[1]
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))


def sections(help_text):
    """Options and paragraphs of a help, in its order."""
    lines = []
    for part in help_text.parts:
        if isinstance(part, str):
            lines += [".PP"] * (lines != []) + filled(part)
        else:
            lines += entry(part.term, part.text)
    return lines


def entry(term, text):
    return [".TP", ".B " + quoted(escape(term))] + filled(text)


def synopsis(lines):
    return [".nf"] + [escape(line[7:]) for line in lines] + [".fi"]


class Pages:
    def __init__(self, mortar, folder):
        self.mortar, self.folder = mortar, os.path.join(folder, "man1")
        self.date = date()
        self.names = ["mortar"] + ["mortar-" + name for name in mortar.about if name == "run" or name in mortar.helps]

    def write(self, name, about, body):
        others = [other for other in self.names if other != name]
        also = [".BR %s (1)%s" % (escape(other), "," if other != others[-1] else "") for other in others]
        head = ['.TH %s 1 "%s" "mortar %s" "mortar"' % (name.upper().replace("-", "\\-"), self.date, self.mortar.version),
                ".SH NAME", "%s \\- %s" % (escape(name), escape(about))]
        with open(os.path.join(self.folder, name + ".1"), "w", encoding="utf-8") as file:
            file.write("\n".join(head + body + [".SH SEE ALSO"] + also) + "\n")

    def of_mortar(self):
        lines = [".SH SYNOPSIS"] + synopsis(self.mortar.main.synopsis) + [".SH COMMANDS"]
        for name in self.names[1:]:
            lines += [".TP", ".BR %s (1)" % escape(name)] + filled(self.mortar.about[name[7:]])
        for part in self.mortar.main.parts:
            if isinstance(part, str) and part.startswith("MORTAR_"):
                lines += [".SH ENVIRONMENT"] + filled(part)
        self.write("mortar", START["mortar"], lines)

    def of_run(self):
        lines = [".SH SYNOPSIS"] + synopsis(self.mortar.main.synopsis[:1])
        lines += [".SH DESCRIPTION"] + filled(EXPLAINED) + [".SH OPTIONS"]
        for option in self.mortar.main.entries():
            lines += entry(option.term, re.sub(r" +(MORTAR_\w+)$", r" (\1)", option.text))
        lines += [".SH ENVIRONMENT"]
        for option in self.mortar.options():
            default = option.default.replace("(none)", "empty")
            lines += entry("%s=%s" % (option.name, option.unit), "%s (default: %s)" % (option.meaning, default))
        self.write("mortar-run", self.mortar.about["run"], lines)

    def of_command(self, name):
        text, lines = self.mortar.helps[name], []
        kinds = self.mortar.kinds(name)
        lines += [".SH SYNOPSIS"] + synopsis(text.synopsis) + [".SH DESCRIPTION"] + sections(text)
        for kind, inner in kinds.items():
            lines += [".SH %s %s" % (name.upper(), kind.upper())] + synopsis(inner.synopsis) + sections(inner)
        self.write("mortar-" + name, self.mortar.about[name], lines)

    def all(self):
        os.makedirs(self.folder, exist_ok=True)
        self.of_mortar()
        self.of_run()
        for name in self.mortar.helps:
            self.of_command(name)


def main(command, folder):
    mortar = texts.Mortar(os.path.abspath(command))
    Pages(mortar, folder).all()
    completion.write(mortar, os.path.join(HERE, "mortar.bash"), os.path.join(folder, "mortar"))


if __name__ == "__main__":
    main(*sys.argv[1:])
