"""What the tests do with `gangrun open`, and with what it opens."""

import contextlib
import http.client
import subprocess
import urllib.request

from kubernetes.jobs import RUN_LIMIT_S


@contextlib.contextmanager
def opened(jobs, *words):
    process = subprocess.Popen([jobs.gangrun, "open", "last", *words], cwd=jobs.folder, env=jobs.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=RUN_LIMIT_S)


def fetch(url, body=None):
    # Whatever proxy this machine has is not asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, body, timeout=RUN_LIMIT_S) as answer:
        return answer.read()


def fetched(url):
    """None where nobody answers."""
    try:
        return fetch(url)
    except (OSError, http.client.HTTPException):
        return None
