"""What the README shows works: its commands, its jobs, its picture."""

import html
import os
import pathlib
import re
import subprocess

import pytest

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def named_commands():
    text = README.read_text()
    return set(re.findall(r"`gangrun ([a-z]+)", text)) | set(re.findall(r"^gangrun ([a-z]+)", text, re.MULTILINE))


def test_commands_of_the_readme_exist(run_gangrun):
    commands = named_commands()
    assert {"run", "ps", "status", "logs", "why", "kill", "doctor"} <= commands
    missing = [name for name in sorted(commands) if run_gangrun(name, "--help").status != 0]
    assert not missing


def test_the_first_jobs_of_the_readme_run(run_gangrun, tmp_path):
    text = README.read_text()
    line = next(line for line in text.splitlines() if line.startswith("gangrun run -r"))
    flags, command = line.removeprefix("gangrun ").split(" -- ")
    script = re.fullmatch(r"sh -c '(.*)'", command).group(1)
    done = run_gangrun(*flags.split(), "--", "sh", "-c", script, cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert "I am worker 2" in done.stdout + done.stderr


def test_the_job_in_a_file_of_the_readme_runs(run_gangrun):
    folder, line = re.search(r"^cd (\S+)\n(gangrun run .*)", README.read_text(), re.MULTILINE).groups()
    done = run_gangrun(*line.split()[1:], cwd=README.parent / folder)
    assert done.status == 0, done.stderr


def test_the_job_file_of_the_readme_is_valid(run_gangrun, tmp_path):
    block = re.search(r"^```yaml\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL).group(1)
    (tmp_path / "job.yaml").write_text(block)
    (tmp_path / "train.py").write_text("")
    done = run_gangrun("run", "--dry-run", "job.yaml", cwd=tmp_path)
    assert done.status == 0, done.stderr


def check_picture(picture):
    shown = html.unescape(re.sub(r"<[^>]+>", "", picture)).replace("\xa0", " ")
    assert "worker:2 on 127.0.0.1 exited with status 1" in shown and "ValueError" in shown
    assert re.findall(r"https?://[^\"' ]+|/tmp/", picture) == ["http://www.w3.org/2000/svg"]  # nothing is fetched from elsewhere


def test_the_picture_of_the_readme_shows_a_first_cause():
    check_picture((README.parent / re.search(r"!\[[^\]]*\]\(([^)]+\.svg)\)", README.read_text()).group(1)).read_text())


@pytest.mark.programs
def test_the_picture_is_drawn_from_a_real_run(gangrun, tmp_path):
    subprocess.run([README.parent / "tools/picture", tmp_path / "drawn.svg"], check=True, timeout=300,
                   env=os.environ | {"GANGRUN_BIN": str(pathlib.Path(gangrun).parent)})
    check_picture((tmp_path / "drawn.svg").read_text())
