# SPDX-License-Identifier: BSD-3-Clause
"""pages - what the pages say of the sources. A table below the mark `<!-- algorithms of src/coll/FOLDER -->` names exactly the
algorithms of that folder, with the collectives that src/coll/list.h gives them; each folder of algorithms has its table. Links
lead somewhere, files that are named are there, and docs/README.md leads to each other page of docs. A table below `<!-- members
that src/FILE src/FILE print -->` names, in backticks, each member of JSON that these files print, and its first column no other
ones.

First column: plans in backticks. Column "collectives": names, "alltoall(v, w)", "reduce_scatter(_block)", or sets (SETS). Where the
first column has groups with semicolons between them, so has the other."""
import glob
import os
import re

from common import code, files, main, matches, read

MARK = re.compile(r"<!-- algorithms of (src/coll/\w+) -->\n((?:\|.*\n)+)")
MEMBERS = r"<!-- members that (.*) print -->\n((?:\|.*\n)+)"
PRINTED = r'(?:(?<=\\")|(?<=\(out, "))(\w+)(?=\\":|",)'  # in a format, or as a word for a function that prints
LIST, TABLE = "src/coll/list.h", "src/coll/collectives.h"
SETS = {"alltoalls": "ALLTOALLS", "allgathers": "ALLGATHERS", "neighbours": "NEIGHBORS", "rooted": "ROOTED",
        "reductions": "REDUCTIONS", "gathers": "GATHERS", "scatters": "SCATTERS"}
NAMED = r"(?<![\w/.<-])(?:src|heap|bin|info|bench|model|sim|draw|measure|examples|scripts|cmake|test|docs)/[\w./*-]*[\w*]"


def evaluate(expression, macros):
    """The collectives of a C expression of BIT(x), macros and |; None where it is something else, as all."""
    found = set()
    for word in re.sub(r"[()\s]", " ", re.sub(r"BIT\((\w+)\)", r"\1", expression)).split("|"):
        word = word.strip()
        if word in macros:
            inner = evaluate(macros[word], macros)
            found |= inner if inner is not None else set()
        elif re.fullmatch(r"[a-z_]+", word):
            found.add(word)
        else:
            return None
    return found


def macros_of(root):
    text = code(read(root, TABLE)).replace("\\\n", " ")
    return dict(re.findall(r"^#define (\w+) +(\(.*\))\s*$", text, re.MULTILINE))


def rows_of(root, macros):
    """{algorithm: its collectives}, of those whose row lists some."""
    text = code(read(root, LIST), strings=True)
    rows = {name: evaluate(expression, macros) for name, expression in
            re.findall(r"^ALGORITHM\(\s*(\w+)\s*,((?:[^,()]|\([^()]*\))*),", text, re.MULTILINE)}
    return {name: collectives for name, collectives in rows.items() if collectives}


def collectives_of(text, macros, known):
    """What a cell names, and the words that nobody knows."""
    found, strange = set(), []
    for word in re.findall(r"\w+(?:\([^)]*\))?", text):
        base, rest = re.fullmatch(r"(\w+)(?:\((.*)\))?", word).groups()
        names = [base] + [base + suffix.strip() for suffix in rest.split(",")] if rest else [base]
        for name in names:
            if name in SETS:
                found |= evaluate(SETS[name], macros)
            elif name in known:
                found.add(name)
            else:
                strange.append(name)
    return found, strange


def check_table(root, where, folder, lines, rows, macros):
    known = set(re.findall(r"^COLLECTIVE\((\w+),", read(root, TABLE), re.MULTILINE))
    here = {os.path.basename(path)[:-2] for path in files(root, [folder], (".c",))} & set(rows)
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()]
    if "collectives" not in cells[0]:
        return ["%s: no column 'collectives'" % where]
    column, said, findings = cells[0].index("collectives"), {}, []
    for row in cells[2:]:
        plans, groups = row[0].split(";"), row[column].split(";")
        if len(plans) != len(groups):
            findings.append("%s: '%s' and '%s' have other numbers of groups" % (where, row[0], row[column]))
        for names, group in zip(plans, groups):
            found, strange = collectives_of(group, macros, known)
            findings += ["%s: no collective is called '%s'" % (where, name) for name in strange]
            for name in re.findall(r"`(\w+)", names):
                said.setdefault(name, set()).update(found)
    for name in sorted(set(said) | here):
        if name not in here:
            findings.append("%s: %s has no algorithm '%s'" % (where, folder, name))
        elif name not in said:
            findings.append("%s: algorithm '%s' is missing" % (where, name))
        elif said[name] != rows[name]:
            findings.append("%s: '%s' does %s in %s and not in the page, or the other way round"
                            % (where, name, ", ".join(sorted(said[name] ^ rows[name])), LIST))
    return findings


def check_algorithms(root, pages):
    macros = macros_of(root)
    rows, findings, told = rows_of(root, macros), [], set()
    for page in pages:
        text = read(root, page)
        for match in MARK.finditer(text):
            where = "%s:%d" % (page, text.count("\n", 0, match.start()) + 1)
            told.add(match.group(1))
            findings += check_table(root, where, match.group(1), match.group(2), rows, macros)
    homes = {os.path.dirname(path) for path in files(root, ["src/coll"], (".c",)) if os.path.basename(path)[:-2] in rows}
    return findings + ["%s: no page has a table of its algorithms" % folder for folder in sorted(homes - told)]


def check_members(root, page):
    for where, match in matches(root, page, MEMBERS, read(root, page)):
        printed = {name for path in match.group(1).split() for name in re.findall(PRINTED, read(root, path))}
        said, first = (set(re.findall(r"`(?:\w+(?:\[\])?\.)*(\w+)`", text)) for text in
                       (match.group(2), "\n".join(row.split("|")[1] for row in match.group(2).splitlines())))
        for name in sorted(printed - said):
            yield "%s: member '%s' is missing" % (where, name)
        for name in sorted(first - printed):
            yield "%s: nobody prints a member '%s'" % (where, name)


def check_links(root, page):
    text = read(root, page)
    prose = re.sub(r"^(?:    |<!--).*$", "", text, flags=re.MULTILINE)  # not what a reader types or sees, nor marks
    for where, match in matches(root, page, r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)", text):
        path, anchor = match.groups()
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(root, target)):
            yield "%s: a link to %s, which is not there" % (where, target)
        elif anchor and anchor not in anchors_of(read(root, target)):
            yield "%s: %s has no heading %s" % (where, target, anchor)
    for where, match in matches(root, page, NAMED, prose):
        if not glob.glob(os.path.join(root, match.group())):
            yield "%s: %s is not there" % (where, match.group())


def check_index(root, pages):
    index = "docs/README.md"
    if index not in pages:
        return []
    text = read(root, index)
    return ["%s: %s is missing" % (index, page) for page in pages
            if page.startswith("docs/") and page != index and "](%s" % page[len("docs/"):] not in text]


def anchors_of(text):
    """As forges make them of headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check(root):
    pages = [path for path in files(root, [""], (".md",)) if "/" not in path or path.startswith("docs/")]
    findings = check_algorithms(root, pages) + check_index(root, pages)
    for page in pages:
        findings += check_links(root, page)
        findings += check_members(root, page)
    return findings if pages else ["no page below " + root]


GOOD = {
    LIST: 'ALGORITHM(native, (1u << COLLECTIVES) - 1, "", "x")\nALGORITHM(pull, EXCHANGES, "", "x")\n'
          'ALGORITHM(ring, BIT(allgather) | BIT(bcast), "", "x")\n',
    TABLE: "#define BIT(c) (1u << COLL_##c)\n#define ALLTOALLS (BIT(alltoall) | BIT(alltoallv))\n"
           "#define EXCHANGES   \\\n  (ALLTOALLS |  \\\n  BIT(allgather))\n"
           "COLLECTIVE(alltoall, 1)\nCOLLECTIVE(alltoallv, 1)\nCOLLECTIVE(allgather, 1)\nCOLLECTIVE(bcast, 1)\n",
    "src/mpi/write.c": 'fprintf(out, "{\\"rank\\": %d, \\"seconds\\": %g, \\"x\\": 1}"); text(out, "name", s);',
    "docs/c.md": "<!-- members that src/mpi/write.c print -->\n| JSON | |\n|---|---|\n| `late[].rank` | its number |\n"
                 "| `name` | and `seconds`: `null`, `x` |\n",
    "docs/README.md": "[a](a.md) [b](b.md#two-things) [c](c.md)\n",
    "src/coll/node/pull.c": "", "src/coll/flat/ring.c": "", "src/coll/native.c": "", "src/coll/node/helper.c": "",
    "docs/a.md": "# Big words\n<!-- algorithms of src/coll/node -->\n| plan | collectives |\n|---|---|\n"
                 "| `pull(x)`; `pull` | alltoall(v); allgather |\nSee [b](b.md#two-things), src/coll/node/p*.c,\n"
                 "src/coll/node/pull.c and [here](#big-words).\n    not/there src/not.c\n",
    "docs/b.md": "## Two things\n<!-- algorithms of src/coll/flat -->\n| plan | collectives |\n|---|---|\n"
                 "| `ring` | bcast, allgather |\n",
}
A, B, C = GOOD["docs/a.md"], GOOD["docs/b.md"], GOOD["docs/c.md"]
BAD = [
    ({"docs/README.md": "[a](a.md) [c](c.md)\n"}, "docs/README.md: docs/b.md is missing"),
    ({"docs/b.md": B.replace("bcast, ", "")}, "'ring' does bcast"),
    ({"docs/b.md": B.replace("bcast", "bcast, alltoalls")}, "'ring' does alltoall, alltoallv"),
    ({"docs/b.md": B.replace("`ring`", "`rung`")}, "no algorithm 'rung'"),
    ({"docs/b.md": B.replace("bcast", "bcost")}, "no collective is called 'bcost'"),
    ({"docs/b.md": B.replace("<!-- algorithms", "<!-- what")}, "src/coll/flat: no page"),
    ({"docs/a.md": A.replace("; allgather", ", allgather")}, "other numbers of groups"),
    ({"src/coll/node/cico.c": "", LIST: GOOD[LIST] + 'ALGORITHM(cico, EXCHANGES, "", "x")\n'}, "algorithm 'cico' is missing"),
    ({"docs/a.md": A.replace("b.md#", "d.md#")}, "docs/d.md, which is not there"),
    ({"docs/a.md": A.replace("#two-things", "#three")}, "docs/b.md has no heading #three"),
    ({"docs/a.md": A.replace("node/pull.c", "pull.c")}, "src/coll/pull.c is not there"),
    ({"docs/c.md": C.replace("`seconds`", "seconds")}, "member 'seconds' is missing"),
    ({"docs/c.md": C.replace("`name`", "`nome`")}, "nobody prints a member 'nome'"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
