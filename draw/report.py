# SPDX-License-Identifier: BSD-3-Clause
"""report - `mortar report`: makes a page of mortar's report, or of two of them side by side, that a browser shows without a
network. The pictures are in it. report_numbers.py reads, report_pictures.py draws, report.html is the template."""
import argparse
import os
import sys

import report_numbers as numbers
import report_pictures
from show import end_silently

WARNS = "mortar report: "


def read_words(words):
    parser = argparse.ArgumentParser(
        prog="mortar report", usage="mortar report [-o PAGE.html] FILE.json [OTHER.json]",
        description="Makes a page with pictures of a report that `mortar run --report FILE.json` has written; of two, a"
        " comparison.",
        epilog="The page holds all that it shows: it needs no network and no other file. Without -o it lies beside FILE.json.")
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="where the page goes")
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="one report, or two to compare")
    options = parser.parse_args(words)
    if len(options.files) > 2:
        parser.error("at most two reports can be compared")
    if options.output is None:
        options.output = os.path.splitext(options.files[0])[0] + ".html"
    return options


def template():
    try:
        import jinja2
    except ImportError:
        sys.exit(WARNS + "pages need jinja2 (python3-jinja2)")
    here = os.path.dirname(os.path.abspath(__file__))
    room = jinja2.Environment(loader=jinja2.FileSystemLoader(here), autoescape=True, undefined=jinja2.StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    room.filters.update(seconds=numbers.seconds_text, bytes=numbers.bytes_text, share=numbers.share_text)
    return room.get_template("report.html")


def page_of(files):
    """The page's text."""
    page = template()
    try:
        runs = [numbers.Run(path) for path in files]
        if len({run.name for run in runs}) < len(runs):
            for run, path in zip(runs, files):
                run.name = numbers.name_text(path)
        return page.render(runs=runs, pictures=report_pictures.draw(runs), cells=numbers.cells(runs), most=numbers.MOST)
    except numbers.Wrong:
        raise
    except Exception as why:  # whatever Python and jinja2 say of a part of another kind, which a report need not have
        raise numbers.Wrong("%s: a part is not as `mortar run --report FILE.json` writes it (%s: %s)" %
                            (", ".join(files), type(why).__name__, why)) from None


def main(words):
    options = read_words(words)
    try:
        if os.path.realpath(options.output) in map(os.path.realpath, options.files):
            raise numbers.Wrong("%s: that is a report; -o names the page" % options.output)
        text = page_of(options.files)
    except numbers.Wrong as why:
        print(WARNS + str(why), file=sys.stderr)
        return 2
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as why:
        print("%s%s: %s" % (WARNS, options.output, why.strerror), file=sys.stderr)
        return 1
    try:
        print(numbers.name_text(options.output), flush=True)
    except OSError as why:
        print("%sstandard output has not got everything: %s" % (WARNS, why.strerror), file=sys.stderr, flush=True)
        os._exit(1)  # Python itself would try again, and complain
    return 0


if __name__ == "__main__":
    end_silently()
    sys.exit(main(sys.argv[1:]))
