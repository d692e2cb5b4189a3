# SPDX-License-Identifier: BSD-3-Clause
"""fences - in the built engines only the copy kernels make non-temporal stores (x86: movnt) without an sfence straight before each
return: such stores come in no order with others, and no test that runs would see the fence missing. A kernel's fence is whoever
called it's: layout_copy has one in the built code, and calls.py lets few others call kernels. Elsewhere than on x86-64 nothing is
looked at."""
import os
import platform
import re
import subprocess

from common import files, main

ENGINES = ("libmortar-ompi.so", "libmortar-mpich.so", "libmortar-standard.so")
STREAMING = ("copy_sse2", "copy_avx2", "copy_avx512")


def functions(path):
    """(name, its mnemonics) of each function of a library; a jump to another function counts as a return."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    for part in re.split(r"\n(?=[0-9a-f]+ <)", text):
        head = re.match(r"[0-9a-f]+ <([^>+]+)>:", part)
        if head:
            away = r"\bjmp\s+[0-9a-f]+ <(?!%s[+>])" % re.escape(head.group(1))
            yield head.group(1), re.findall(r"^\s+[0-9a-f]+:\s+(\w+)", re.sub(away, "ret <", part), re.MULTILINE)


def unfenced(instructions):
    """Has it non-temporal stores, and a return without an sfence straight before it (no store, jump or call between)?"""
    fenced, streams = False, any(re.match(r"v?movnt(?!dqa)", instruction) for instruction in instructions)
    for instruction in instructions:
        if instruction == "sfence":
            fenced = True
        elif instruction.startswith("ret") and streams and not fenced:
            return True
        elif re.match(r"v?movnt|j|call|ret", instruction):
            fenced = False
    return False


def check(root):
    if platform.machine() != "x86_64":
        return []
    findings = []
    for path in files(root, [""], ENGINES):
        found = {name: code for name, code in functions(os.path.join(root, path))}
        for name in STREAMING:
            if not any(re.match(r"v?movnt(?!dqa)", instruction) for instruction in found.get(name, [])):
                findings.append("%s:1: %s has no non-temporal store" % (path, name))
        findings += ["%s:1: %s returns without a fence" % (path, name) for name, code in found.items()
                     if name not in STREAMING and unfenced(code)]
        if "sfence" not in found.get("layout_copy", []):
            findings.append("%s:1: layout_copy has no fence" % path)
    return findings


def prepare(folder):
    for path in files(folder, [""], (".c",)):
        source = os.path.join(folder, path)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", source[:-2] + ".so", source], check=True)


def toy(name, fence="sfence", store="movnti %%eax, (%0)"):
    return 'void %s(void *p) { __asm__ volatile("%s\\n\\t%s" :: "r"(p) : "memory"); }\n' % (name, store, fence)


KERNELS = "".join(toy(name, "nop") for name in STREAMING)
ALL = KERNELS + toy("layout_copy", store="nop")
GOOD = {"libmortar-ompi.c": ALL} if platform.machine() == "x86_64" else {}
AWAY = "void away(void *); void f(void *p) { __asm__ volatile(\"movnti %%eax, (%0)\" :: \"r\"(p)); away(p); }\n"
BAD = [
    ({"libmortar-ompi.c": KERNELS + toy("layout_copy", "nop", "nop")}, "layout_copy has no fence"),
    ({"libmortar-ompi.c": ALL + toy("other", "lfence")}, "other returns without a fence"),
    ({"libmortar-ompi.c": ALL + AWAY},
     "f returns without a fence"),
    ({"libmortar-ompi.c": toy("copy_sse2") + toy("copy_avx2") + toy("copy_avx512", store="nop")}, "copy_avx512 has no"),
    ({"libmortar-mpich.c": toy("copy_sse2")}, "copy_avx2 has no non-temporal store"),
] if GOOD else []

if __name__ == "__main__":
    main(check, GOOD, BAD, prepare)
