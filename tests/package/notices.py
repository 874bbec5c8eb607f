#!/usr/bin/env python3
"""The notices of a release: each crate that is linked has its licence and a text of it, and each licence is a permitted one.

Which crates are linked is what `cargo tree` says, which `.package/release` does not ask.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PERMITTED = {"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unicode-3.0", "Zlib", "MPL-2.0"}
LINE = "-" * 80
OURS = {"tempmail-server", "tempmail-intake", "tempmail-mime"}


def linked():
    """The crates in the program: name and version, and licence and repository of each."""
    tree = ["cargo", "tree", "--locked", "--package", "tempmail-server", "--features", "cassandra"]
    tree += ["--edges", "normal", "--prefix", "none"]
    host = subprocess.check_output(["rustc", "--print", "host-tuple"], text=True).strip()
    listed = subprocess.check_output([*tree, "--target", host, "--format", "{p}\t{l}\t{r}"], cwd=ROOT, text=True)
    crates = {}
    for line in listed.splitlines():
        package, licence, repository = line.removesuffix(" (*)").split("\t")
        name, version = package.split()[:2]
        crates[name, version.removeprefix("v")] = licence, repository
    return {crate: about for crate, about in crates.items() if crate[0] not in OURS}


def is_permitted(licence):
    """Whether an expression of SPDX names a permitted licence, or leaves the choice of one."""
    words = re.sub(r"[\w.+-]+( WITH [\w.-]+)?", lambda it: it[0].lower() if it[0] in ("AND", "OR") else str(it[0] in PERMITTED),
                   licence.replace("/", " OR "))
    return eval(words)


def wrong(notices):
    """What is wrong with the notices."""
    head, *texts = notices.split(f"\n{LINE}\n")
    lines = head.splitlines()
    with_text = {name for text in texts for name in text.split("\n\n", 1)[0].split()}
    for (name, version), (licence, repository) in linked().items():
        line = f"{name} {version}: {licence}"
        if line not in lines:
            yield f"{line!r} is not named"
            continue
        if f"{name}-{version}" not in with_text:
            yield f"{name} {version} has no text of its licence"
        if not is_permitted(licence):
            yield f"{name} {version} is under {licence}"
        source = lines[lines.index(line) + 1 :][:1]
        if "MPL" in licence and not (source and "registry" in source[0] and source[0].endswith(repository)):
            yield f"where the source of {name} {version} is, is not said"


with tempfile.NamedTemporaryFile("r") as file:
    subprocess.run([ROOT / ".package/release", "--notices", file.name], check=True)
    notices = file.read()
found = sorted(wrong(notices))
if found:
    sys.exit("\n".join(found))
print(f"the notices have all of {len(linked())} crates")
