"""What is told before a job begins."""

import io
import sys

from gangrun import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def said(monkeypatch, stream, *steps, wanted=True):
    monkeypatch.setattr(sys, "stderr", stream)
    progress = _progress.Progress(None, wanted)
    for step in steps:
        if isinstance(step, dict):
            progress.upload(step)
        else:
            progress.say(step)
    progress.end()
    return stream.getvalue()


STEPS = ["packs x: 2 files", "packs x: 1 of 2 files", "packed x: 2 files", "packs y: 1 files"]


def test_where_nobody_looks_a_step_has_few_lines(monkeypatch):
    assert said(monkeypatch, io.StringIO(), *STEPS) == (
        "gangrun: packs x: 2 files\ngangrun: packed x: 2 files\ngangrun: packs y: 1 files\n")
    now = iter(range(0, 1000, 11))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(now))
    assert said(monkeypatch, io.StringIO(), *STEPS).count("\n") == 4
    assert said(monkeypatch, io.StringIO(), *STEPS, wanted=False) == ""


def test_on_a_terminal_a_step_has_one_line(monkeypatch):
    assert said(monkeypatch, Terminal(), *STEPS[:3]) == (
        "\r\x1b[Kgangrun: packs x: 2 files\r\x1b[Kgangrun: packs x: 1 of 2 files\n\r\x1b[Kgangrun: packed x: 2 files\n")


def test_an_upload_is_told_by_its_quarters(monkeypatch):
    events = [{"event": "upload", "name": "e.tar.gz", "sent": sent << 20, "size": 200 << 20} for sent in range(0, 201, 2)]
    assert said(monkeypatch, io.StringIO(), *events).splitlines() == [
        "gangrun: uploads e.tar.gz (200 MiB)", "gangrun: uploads e.tar.gz: 25 % of 200 MiB",
        "gangrun: uploads e.tar.gz: 50 % of 200 MiB", "gangrun: uploads e.tar.gz: 75 % of 200 MiB",
        "gangrun: uploads e.tar.gz: 100 % of 200 MiB"]


def test_where_there_is_a_display_it_tells(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    progress = _progress.Progress(told.append, True)
    progress.say("packs x: 2 files")
    progress.upload({"name": "e", "sent": 0, "size": 1 << 20})
    progress.end()
    assert told == ["packs x: 2 files", "uploads e (1 MiB)"]
    assert sys.stderr.getvalue() == ""
