# SPDX-License-Identifier: BSD-3-Clause
"""texts - what the built commands say of themselves: `mortar --help`, each command's --help, the tables of `mortar info`. The
manual and the completion are made of this, so no list is kept twice."""
import collections
import os
import re
import subprocess

Entry = collections.namedtuple("Entry", "term text")  # an option with its value, as it is written; what it does
Option = collections.namedtuple("Option", "name unit default meaning")  # a row of src/base/options.h


class Help:
    """A text of --help: synopsis: lines; parts: paragraphs (str) and entries, in order."""

    def __init__(self, text):
        lines = text.rstrip("\n").split("\n")
        end = 1
        while end < len(lines) and lines[end].startswith(" " * 7):
            end += 1
        self.synopsis = lines[:end]
        self.synopsis[0] = self.synopsis[0].replace("usage: ", " " * 7, 1)
        self.parts = list(parts_of(lines[end:]))

    def entries(self):
        return [part for part in self.parts if isinstance(part, Entry)]

    def options(self):
        """[(names, value)]: ["--svg"], "FILE"; the value is "" where there is none."""
        found = []
        for entry in self.entries():
            for form in entry.term.split(", "):
                name, _, value = form.partition(" ")
                if name.startswith("-"):
                    found.append(([name], value))
        return found


def is_term(text):
    return re.match(r"-|[A-Z][A-Z.a-z]*$|[A-Z]+\b", text) is not None


def column_of(lines):
    """Where descriptions begin: where most do that are clearly apart from what they describe."""
    found = collections.Counter()
    for line in lines:
        match = re.match(r" {0,4}(\S.*?) {2,}(?=\S)", line)
        if match and is_term(match.group(1)):
            found[match.end()] += 1
    return found.most_common(1)[0][0] if found else None


def parts_of(lines):
    """Entries begin with few blanks and a term; what goes on is far to the right. All else are paragraphs."""
    column, part = column_of(lines), None
    for line in lines + [""]:
        indent = len(line) - len(line.lstrip())
        if isinstance(part, Entry) and line.strip() and indent >= min(column or 10, 10):
            part = Entry(part.term, (part.text + " " + line.strip()).strip())
            continue
        started = entry_of(line, column) if indent <= 4 else None
        if part and (started or not line.strip() or isinstance(part, Entry) or line.endswith(":")):
            yield part
            part = None
        if started:
            part = started
        elif line.strip() and not re.fullmatch(r"[a-z ]+:", line):  # those are argparse's headings
            part = (part + " " if part else "") + line.strip()


def entry_of(line, column):
    text = line.strip()
    apart = re.split(r" {2,}", text, maxsplit=1)
    if not text or not is_term(apart[0]) or line[0] != " " and text[0] != "-":
        return None
    if column and len(line) > column and line[column - 1] == " " and line[column] != " ":
        return Entry(line[:column].strip(), line[column:])
    if len(apart) == 2:
        return Entry(*apart)
    return Entry(text, "") if text.startswith("-") or " " not in text else None


class Mortar:
    """Asks the command, under no settings of its caller's."""

    def __init__(self, mortar):
        self.mortar = mortar
        self.main = Help(self.ask("--help"))
        self.info = self.ask("info")
        self.version = self.ask("--version").split()[-1]
        self.about = abouts(self.main.synopsis)
        self.helps = {name: Help(self.ask(name, "--help")) for name in self.about if name != "run" and self.is_built(name)}

    def is_built(self, name):
        return name != "predict" or os.path.exists(os.path.join(os.path.dirname(self.mortar), "..", "lib", "mortar-sim"))

    def ask(self, *words):
        values = {name: value for name, value in os.environ.items() if not name.startswith("MORTAR_")}
        values.update(COLUMNS="80", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([self.mortar, *words], env=values, stdout=subprocess.PIPE, encoding="utf-8", check=True,
                              stdin=subprocess.DEVNULL)
        return done.stdout

    def kinds(self, command):
        """{what may follow the command as its kind: its help}: those with a help of their own."""
        names = [name for line in self.helps[command].synopsis for name in re.findall(r"mortar %s ([a-z]+) " % command, line)]
        return {name: Help(self.ask(command, name, "--help")) for name in names}

    def table(self, title):
        """The names in a table of `mortar info`: collectives, algorithms, orders, kernels, options."""
        part = re.search(r"^%s\b.*\n((?:  .*\n)+)" % title, self.info, re.MULTILINE).group(1)
        return [line.split()[0] for line in part.splitlines()]

    def options(self):
        return [Option(*found) for found in
                re.findall(r"^  (MORTAR_\w+) +(.*?) +default (\S+|\(none\)) +(.*)$", self.info, re.MULTILINE)]


def abouts(synopsis):
    """{command: what it is for} from the lines of `mortar --help`."""
    found, name = {}, None
    for line in synopsis:
        match = re.match(r" +(?:mpirun -n P )?mortar ([a-z][\w-]*)", line)
        name = match.group(1) if match else name
        about = re.search(r"\S {4,}(\S.*)$", line)
        found.setdefault(name, "")
        if about and not found[name]:
            found[name] = re.sub(r"[;(] *(mortar [\w-]+ |[\w-]+ )?--help\)?", "", about.group(1)).strip()
    return found
