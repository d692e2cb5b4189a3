# SPDX-License-Identifier: BSD-3-Clause
"""page - `mortar report`: the page says what the report says, in words and in pictures, and needs nothing else. What is no report
is refused in one line. Chromium, where it is, shows the page, and the pictures are really there.
usage: page.py TEST [FLAVOUR]"""
import base64
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

MORTAR, NATIVE, WAITING = (0x2b, 0x6c, 0xb0), (0x8a, 0x8f, 0x98), (0xe0, 0xa0, 0x30)  # the colours of the parts


STRIP = "share of the time that the others waited for each rank, over the run"
DARKEST, PALEST = "#7a3b00", "#f4f5f7"


class Page(html.parser.HTMLParser):
    """The words of a page, its headings, its pictures, and whatever would be fetched."""

    def __init__(self, text):
        super().__init__()
        self.words, self.headings, self.pictures, self.fetched, self.inside = [], [], {}, [], []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("script", "link", "iframe", "object"):
            self.fetched.append(tag)
        for name in ("src", "href"):
            if name in attrs and not attrs[name].startswith("data:"):
                self.fetched.append(attrs[name])
        if tag == "img":
            kind, data = attrs["src"].split(",", 1)
            if kind != "data:image/svg+xml;base64":
                raise Failure("a picture of kind %s" % kind)
            self.pictures[attrs["alt"]] = xml.etree.ElementTree.fromstring(base64.b64decode(data))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.inside:
            if "url(" in data or "@import" in data:
                self.fetched.append(data)
            return
        self.words.append(data)
        if "h2" in self.inside:
            self.headings.append(data)


def row(collective, plan, seconds, least, **more):
    return {"collective": collective, "ranks": 64, "nodes": 1, "plan": plan, "reason": "", "source": "model", "from": least,
            "to": 2 * least - 1 if least else 0, "calls": 1000, "bytes": 0, "seconds": seconds, "waiting_seconds": None,
            "moving_seconds": None, "inside_seconds": None, "late": [], **more}


def made(factor=1.0):
    late = [{"rank": 5, "times": 900, "seconds": 0.25 * factor, "share": 0.9}]
    gain = {"pairs": 9, "gain": 1.75, "gain_interval": [1.5, 2.0]}
    return {"mortar": "0.1.0", "mpi": "An <MPI> & more", "ranks": 64, "heap": "on",
            "moved": {"buffers": 12, "bytes": 3 << 20, "seconds": 0.02, "repaid_after_calls": 200, "huge_pages_lost": False},
            "late_over_time": {"slice_seconds": 0.5, "by_rank": [{"rank": 5, "seconds": [0.25 * factor, 0.0, 0.1]},
                                                                 {"rank": 2, "seconds": [0.0, 0.125, 0.0]}],
                               "rest": [0.0, 0.0, 0.05]},
            "not_taken": [{"function": "MPI_Ialltoall", "kind": "nonblocking", "calls": 12000, "calls_of_all": 768000,
                           "seconds": 3.1 * factor}],
            "verified_calls": 0, "differences": 0,
            "teams": [{"ranks": 64, "nodes": 1, "fullest": 64, "domains": 1, "count": 1, "setup_seconds": 0.004, "native": None}],
            "collectives": [row("alltoall", "pull(rows, plain)", 2.0 * factor, 4096, waiting_seconds=0.5, late=late, **gain),
                            row("alltoall", "native", 1.0, 4096, reason="on trial: what the host MPI takes"),
                            row("barrier", "central", 0.25, 0, waiting_seconds=0.2)]}


def write(folder, name, report):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    return path


def page_of(folder, *files, words=()):
    for module in ("jinja2", "matplotlib"):  # by the Python that the command takes
        if all(subprocess.run([python, "-c", "import " + module], stderr=subprocess.DEVNULL, check=False).returncode
               for python in ("python3", "/usr/bin/python3") if shutil.which(python)):
            raise Skip("no %s" % module)
    out = os.path.join(folder, "page.html")
    run.run([run.MORTAR, "report", *files, "-o", out, *words]).ok(out)
    with open(out, encoding="utf-8") as file:
        page = Page(file.read())
    if page.fetched:
        raise Failure("the page fetches %s" % page.fetched)
    return out, page


def check(page, *words):
    for word in words:
        if word not in page.text:
            raise Failure("the page does not say %r:\n%s" % (word, page.text[:6000]))


def one():
    with tempfile.TemporaryDirectory() as folder:
        _, page = page_of(folder, write(folder, "a.json", made()))
        check(page, "An <MPI> & more", "3.25 s in 3000 calls", "1.55 s (48 %)", "1 s (31 %)", "700 ms (22 %)", "12 buffers, 3 MiB",
              "MPI_Ialltoall nonblocking a.json 12000 768000 3.1 s", "1.75 (1.50-2.00)", "pull(rows, plain)",
              "native: on trial: what the host MPI takes")
        if len(page.pictures) != 6 or not all(len(list(picture.iter())) > 50 for picture in page.pictures.values()):
            raise Failure("pictures: %s" % {what: len(list(picture.iter())) for what, picture in page.pictures.items()})
        strip = page.pictures[STRIP]
        fills = {fill for element in strip.iter() for fill in re.findall(r"fill: *(#\w{6})", element.get("style") or "")}
        if not {DARKEST, PALEST} <= fills:
            raise Failure("the strip has the colours %s" % sorted(fills))
        bare = {**made(), "collectives": [], "late_over_time": None}
        del bare["not_taken"]
        _, page = page_of(folder, write(folder, "bare.json", bare))
        check(page, "No blocking collective was called.", "No rank stands out over the whole run.", "not counted")
        del bare["late_over_time"]  # as of an older mortar
        _, page = page_of(folder, write(folder, "bare.json", {**bare, "not_taken": []}))
        check(page, "no one-sided call was made")
        if page.pictures:
            raise Failure("a picture of nothing")


def two():
    with tempfile.TemporaryDirectory() as folder:
        first, second = write(folder, "a.json", made()), write(folder, "b.json", made(2))
        _, page = page_of(folder, first, second)
        check(page, "a.json", "b.json", "alltoall, 64 ranks, 4 KiB and more 3 s, 2000 calls 5 s, 2000 calls 1.67",
              "barrier, 64 ranks, any size 250 ms, 1000 calls 250 ms, 1000 calls 1.00", "All rows of a.json", "All rows of b.json")
        os.mkdir(os.path.join(folder, "other"))
        again = write(os.path.join(folder, "other"), "a.json", made())
        _, page = page_of(folder, first, again)
        check(page, first, again)  # of one name: told apart by their folders


def names():
    """A file may have any name: one that is no UTF-8, and one that matplotlib takes for a formula."""
    with tempfile.TemporaryDirectory() as folder:
        odd = write(folder, os.fsdecode(b"\xff.json"), made())
        _, page = page_of(folder, odd, write(folder, "a$_$b.json", made()))
        check(page, "\ufffd.json", "a$_$b.json")
        os.rename(odd, os.path.join(folder, "a$_$.json"))
        run.run([run.MORTAR, "report", os.path.join(folder, "a$_$.json")]).ok("a$_$.html")


def unread():
    """Nobody reads where the page lies."""
    with tempfile.TemporaryDirectory() as folder:
        out, _ = page_of(folder, write(folder, "a.json", made()))
        os.unlink(out)
        end, closed = os.pipe()
        os.close(end)
        done = subprocess.run([run.MORTAR, "report", os.path.join(folder, "a.json"), "-o", out], stdout=closed,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(closed)
        if done.stderr or not os.path.exists(out):
            raise Failure("said, with a page or without: %s" % done.stderr)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([run.MORTAR, "report", os.path.join(folder, "a.json"), "-o", out], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        if done.returncode != 1 or done.stderr.count("\n") != 1 or "has not got everything: No space" not in done.stderr:
            raise Failure("on a full disk: %s" % done.stderr)


def wrong():
    with tempfile.TemporaryDirectory() as folder:
        report = write(folder, "a.json", made())
        with open(os.path.join(folder, "text"), "w", encoding="utf-8") as file:
            file.write("no report\n")
        other = write(folder, "other.json", {"mortar": 1})
        half = write(folder, "half.json", {**made(), "collectives": [{"collective": "alltoall"}]})
        none = write(folder, "none.json", {**made(), "collectives": None})
        text = write(folder, "text.json", {**made(), "collectives": [row("alltoall", "cico", "2 s", 8)]})
        named = write(folder, "page.html", made())
        late = {**made()["collectives"][0], "late": [{}]}
        broken = {"moved": 3}, {"teams": None}, {"late_over_time": [1]}, {"collectives": [late]}
        parts = [write(folder, "part%d.json" % number, {**made(), **part}) for number, part in enumerate(broken)]
        os.symlink(report, os.path.join(folder, "link"))
        for words, said in ((["nowhere.json"], "nowhere.json"), ([file.name], "no JSON"), ([other], "no report"),
                            *(([part], part + ": a part is not as") for part in parts),
                            ([half], "no report"), ([none], "no report"), ([text], "no report"),
                            ([report, report, report], "at most two"), ([], "FILE.json"), ([named], "that is a report"),
                            ([report, "-o", report], "that is a report"),
                            ([report, "-o", os.path.join(folder, "link")], "that is a report")):
            result = run.run([run.MORTAR, "report", *words])
            result.check(result.code == 2 and said in result.err.splitlines()[-1] and "Traceback" not in result.err, "unclear")
        result = run.run([run.MORTAR, "report", report, "-o", os.path.join(folder, "no", "page.html")])
        result.check(result.code == 1 and len(result.err.splitlines()) == 1, "a folder that is not there")
    run.run([run.MORTAR, "report", "--help"]).ok("FILE.json [OTHER.json]")


def real(flavour):
    """Of a report that a program under mortar has written."""
    run.need(flavour)
    with tempfile.TemporaryDirectory(dir=run.BUILD) as folder:
        report = os.path.join(folder, "report.json")
        late = [run.target("imbalance-" + flavour), "alltoall", "turns"]
        run.run(run.command(flavour, 4, late, ["--report", report, "--plan", "cico"])).ok("0 errors")
        _, page = page_of(folder, report)
        check_turns(dark_cells(page.pictures[STRIP]))
        run.run(run.command(flavour, 3, [run.target("untaken-" + flavour)], ["--report", report])).ok("0 errors")
        _, page = page_of(folder, report)
        check(page, "MPI_Ialltoall nonblocking report.json 20 60", "Open MPI v4", "barrier", "reduce")


def dark_cells(picture):
    """{height of a strip: [x of its slices in which the others waited most of the time]}"""
    found = {}
    for path in picture.iter():
        fill = re.search(r"fill: *#(\w\w)", path.get("style") or "")
        place = re.match(r"M ([\d.]+) ([\d.]+) ", path.get("d") or "")
        if fill and place and "clip-path" in path.attrib and int(fill.group(1), 16) < 0xc0:
            found.setdefault(float(place.group(2)), []).append(float(place.group(1)))
    return found


def check_turns(strips):
    """Two ranks were late, one after the other."""
    strips = sorted(strips.values())
    if len(strips) != 2 or min(map(len, strips)) < 5 or max(strips[0]) > min(strips[1]):
        raise Failure("the dark slices: %s" % strips)


def seen():
    """In a browser: the pictures have the colours of all parts, and text is dark on white."""
    browser = shutil.which("chromium")
    if not browser:
        raise Skip("no Chromium (scripts/setup long)")
    with tempfile.TemporaryDirectory() as folder:
        out, _ = page_of(folder, write(folder, "a.json", made()))
        shot = os.path.join(folder, "page.png")
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,2600"]
        done = subprocess.run([browser, *words, "--user-data-dir=" + os.path.join(folder, "profile"), "--screenshot=" + shot,
                               "file://" + out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=90,
                              check=False)
        if not os.path.exists(shot):
            raise Failure("Chromium made no picture (%d):\n%s" % (done.returncode, done.stdout[-2000:]))
        program = ("import sys\nfrom matplotlib import image\nfrom collections import Counter\npixels = image.imread(sys.argv[1])\n"
                   "found = Counter(map(tuple, (pixels[..., :3].reshape(-1, 3) * 255 + 0.5).astype(int).tolist()))\n"
                   "print(pixels.shape[1], pixels.shape[0], *(found[tuple(int(c[i:i + 2], 16) for i in (0, 2, 4))]"
                   " for c in sys.argv[2:]))")
        colours = ["%02x%02x%02x" % colour for colour in (MORTAR, NATIVE, WAITING)]
        for python in ("python3", "/usr/bin/python3"):
            done = subprocess.run([python, "-c", program, shot, *colours, "ffffff"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, encoding="utf-8", check=False)
            if done.returncode == 0:
                break
        width, height, *counts = map(int, done.stdout.split())
        if width != 1000 or min(counts[:3]) < 500 or counts[3] < width * height / 3:
            raise Failure("%d x %d, pixels of each part and white: %s" % (width, height, counts))


run.main_of(one, two, names, unread, wrong, real, seen)
