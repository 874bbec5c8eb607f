#!/usr/bin/env python3
"""Runs the tests that pytest-mailpit has for itself and a Mailpit, as they are, but for those of what is not here.

Usage, after `cargo build`: tests/compat/mailpit_suite.py [PROGRAM]
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from suite import PROGRAM, Daemon, program

SOURCE = "pytest-mailpit==0.4.1"
# Left out: containers, faults by Mailpit's interface, browsers, checks of HTML and links; tags and marks.
FILES = ["test_client.py", "test_waiting.py", "test_attachments_and_unsubscribe.py", "test_plugin.py"]
ABSENT = ["mark_read", "tagged", "parallel", "allure"]
LEAST = 24

with tempfile.TemporaryDirectory() as directory:
    directory = pathlib.Path(directory)
    pip = [program("python"), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--no-binary", ":all:", "--no-build-isolation", "--dest", directory, SOURCE], check=True)
    with tarfile.open(next(directory.glob("*.tar.gz"))) as archive:
        archive.extractall(directory, filter="data")
    [source] = directory.glob("*/tests/integration")
    daemon = Daemon(sys.argv[1] if len(sys.argv) > 1 else PROGRAM, directory / "data", "--dev", "--domain", "*")
    try:
        env = {**os.environ, "MAILPIT_URL": f"http://{daemon.http}", "MAILPIT_SMTP": daemon.smtp}
        pytest = [program("python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=short"]
        chosen = [source / name for name in FILES] + ["-k", " and ".join(f"not {name}" for name in ABSENT)]
        at = {"cwd": source.parent.parent, "env": env, "timeout": 300}
        ran = subprocess.run([*pytest, *chosen], capture_output=True, text=True, **at)
        print(ran.stdout)
        passed = int(ran.stdout.rsplit(" passed", 1)[0].split()[-1]) if " passed" in ran.stdout else 0
        if ran.returncode or passed < LEAST:
            sys.exit(f"{passed} passed, of at least {LEAST}:\n{ran.stderr}")
    finally:
        daemon.stop()
