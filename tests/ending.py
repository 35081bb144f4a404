"""What a run of pytest does at its end, for the conftests: a thread that a test has left would keep its process for ever."""

import faulthandler
import os
import sys
import threading

_status = 0


def pytest_sessionfinish(session, exitstatus):
    global _status
    _status = int(exitstatus)


def pytest_unconfigure(config):
    """After the summary. Python itself would wait for these threads without a limit."""
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    if not left:
        return
    print(f"left by the tests, and never ended: the threads {', '.join(left)}", flush=True)
    faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
    sys.stderr.flush()
    os._exit(_status or 1)
