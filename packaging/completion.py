# SPDX-License-Identifier: BSD-3-Clause
"""completion - fills the tables of mortar.bash from what the commands say of themselves (texts.py)."""
import os
import re

import texts


class Values:
    """What may be written where the help has FILE, heap|stack, COLLECTIVES and so on: "KIND WORD...", as mortar.bash reads it."""

    def __init__(self, mortar):
        self.collectives = mortar.table("Collectives")
        self.orders = mortar.table("Orders")
        self.plans = self.plans_of(mortar)
        self.options = mortar.options()
        lib = os.path.join(os.path.dirname(mortar.mortar), "..", "lib")
        self.machines = {"model": sorted(os.listdir(os.path.join(lib, "machines"))) + ["this"],
                         "cores": sorted(os.listdir(os.path.join(lib, "cores-machines")))}

    def plans_of(self, mortar):
        """Names of algorithms; those that take an order also with each."""
        plans = []
        for name, takes in re.findall(r"^  (\w+) +\(([a-z ]*)\) ", mortar.info, re.MULTILINE):
            plans += [name] + ["%s(%s)" % (name, order) for order in self.orders if "order" in takes.split()]
        return plans

    def of(self, name, value, command=""):
        """name: --plan, or PLAN as a variable. value: how the help writes what follows it."""
        if not value:
            return ""
        if name == "--option":
            return "names " + " ".join(option.name[7:] + "=" for option in self.options)
        known = ((r"(collectives?|c|names?)( .*)?", "list", self.collectives), (r"plan\b.*", "words", self.plans),
                 (r"x,y,\.\.\.", "list", self.orders), (r"name\|file", "words", self.machines.get(command, [])))
        for pattern, kind, words in known:
            if re.fullmatch(pattern, value, re.IGNORECASE):
                return "%s %s" % (kind, " ".join(words))
        if re.search("FILE|FOLDER|path|CARD", value):
            return "files"
        choices = re.split("[|,]", value.split("}")[0].lstrip("{")) if re.fullmatch(r"[\w|]+|\{.*", value) else []
        return "words " + " ".join(choices) if len(choices) > 1 else "any"

    def first(self, command, text):
        """What may follow the command itself."""
        if isinstance(text.parts[0] if text.parts else None, str) and set(text.parts[0].split()) >= set(self.collectives):
            return "words " + text.parts[0]
        words = re.sub(r"\[-[^][]*\]", "", " ".join(text.synopsis[:1]))  # what is neither an option nor its value
        words = re.sub(r"--\w+ \S+|\[-.*", "", words.split("mortar " + command)[1])
        collectives = "words " + " ".join(self.collectives)
        for word, values in (("COLLECTIVE", collectives), ("PROGRAM|./app", "programs"), ("FILE", "files")):
            if re.search(word, words):
                return values
        return ""


def row(key, words):
    return '    "%s") echo "%s" ;;' % (key, words)


def write(mortar, template, path):
    values = Values(mortar)
    keys = {"run": mortar.main, **mortar.helps}
    rows = {"WORDS": [row("", "words " + " ".join(list(mortar.about) + ["--help", "--version"]))], "OPTIONS": [], "VALUES": []}
    for command in list(keys):
        kinds = mortar.kinds(command) if command != "run" else {}
        first = values.first(command, keys[command])
        rows["WORDS"].append(row(command, (first + " " + " ".join(kinds)).strip()))
        keys.update({"%s %s" % (command, kind): text for kind, text in kinds.items()})
    for key, text in keys.items():
        rows["OPTIONS"].append(row(key, " ".join(name for names, _ in text.options() for name in names)))
        for names, value in text.options():
            rows["VALUES"] += [row("%s %s" % (key, name), values.of(name, value, key)) for name in names if value]
    for option in values.options:  # behind --option NAME=
        name = option.name[7:]
        rows["VALUES"].append(row("run " + name, values.of(name, option.unit)))
    with open(template, encoding="utf-8") as file:
        text = file.read()
    for mark, lines in rows.items():
        text = text.replace("@%s@" % mark, "\n".join(lines))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
