# SPDX-License-Identifier: BSD-3-Clause
"""sensitivity - what docs/reproduction.md says of the model's assumptions is what `mortar model --sensitivity` prints, and what
survives: the allgather's gain everywhere, the alltoall's only while its buffers lie outside L1 and L2. The same of the table of
packing."""
import re
import subprocess
import sys

program, page = sys.argv[1:3]
done = subprocess.run([program, "--sensitivity"], capture_output=True, text=True)
if done.returncode != 0:
    sys.exit("mortar model --sensitivity ended with %d: %s" % (done.returncode, done.stderr))
with open(page, encoding="utf-8") as file:
    text = file.read()
packed = subprocess.run([program, "--machine", "e5-2680v3", "--packing", "128", "--bytes", "8,16,32,64"],
                        capture_output=True, text=True, check=True).stdout
wrong = ["not in %s: %s" % (page, line) for line in (done.stdout + packed).splitlines() if line + "\n" not in text]
rows = {}
for line in done.stdout.splitlines()[2:]:
    fields = [field.strip() for field in line.strip("|").split("|")]
    rows[fields[0]] = [int(re.fullmatch(r"([+-]\d+) %", field).group(1)) for field in fields[1:]]
if len(rows) < 9:
    wrong.append("expected nine rows: %s" % sorted(rows))
for name, gains in rows.items():
    if max(gains[:4]) >= 0:
        wrong.append("%s: an allgather without gain: %s" % (name, gains))
    kept = "stay" in name
    if kept != (gains[5] > 0) or kept != (gains[7] > 0):
        wrong.append("%s: L2 misses of an alltoall: %s, %s" % (name, gains[5], gains[7]))
print("\n".join(wrong) or "%d variants" % len(rows))
sys.exit(1 if wrong else 0)
