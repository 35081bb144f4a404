"""A real browser without a window."""

import subprocess
import tempfile

from waiting import wait_until

LIMIT_S = 120
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server", "--window-size=1400,1000"]


def seen(url, budget_ms=10000, flags=()):
    """The document as scripts have made it, so long after it was opened (None: when all of it is loaded), and what they have
    told the console."""
    budget = [] if budget_ms is None else [f"--virtual-time-budget={budget_ms}"]
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(["chromium", *FLAGS, *flags, f"--user-data-dir={profile}", *budget, "--enable-logging=stderr", "--v=0",
                               "--dump-dom", url], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def wait_to_see(url, *words, seconds=LIMIT_S):
    """The document when it has all the words; a slow machine may need several looks."""
    def look():
        document, console = seen(url)
        return (document, console) if all(word in document for word in words) else None

    return wait_until(look, f"{words} to be seen at {url}", seconds, pause_s=0.5)
