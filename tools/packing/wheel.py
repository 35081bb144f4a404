"""Gives a wheel the name that tells on which systems it runs, as auditwheel finds it, and makes it reproducible.

    python wheel.py ROOT WHEEL FOLDER     run by the Python of `tools/install-deps --venv wheel`; prints the path
"""

import base64
import csv
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from packing import archive  # noqa: E402: of the folder above

OLDEST = 17  # of glibc 2.17: the same as GANGRUN_OLDEST_GLIBC of cmake/old_libc.cmake
# Both names mean the same; pip before 20.3 knows only the second.
PLATFORMS = "manylinux_2_17_{machine}.manylinux2014_{machine}"


def verdict(wheel):
    """What auditwheel says: manylinux_2_17_x86_64."""
    done = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=False)
    said = " ".join(done.stdout.split())
    found = re.search(r'consistent with the following platform tag: "(\w+)"', said)
    if done.returncode or not found:
        raise SystemExit(f"wheel: auditwheel does not tell where {wheel} runs: {done.stdout}{done.stderr}")
    return found.group(1), said


def platforms(wheel):
    """The platforms for the wheel's name; an error where it would run on less than is promised."""
    tag, said = verdict(wheel)
    match = re.fullmatch(r"manylinux_2_(\d+)_(\w+)", tag)
    if not match or int(match.group(1)) > OLDEST:
        raise SystemExit(f"wheel: {wheel} runs on {tag} only; glibc 2.{OLDEST} has to be enough: {said}")
    return PLATFORMS.format(machine=match.group(2))


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(content))]


def renamed(wheel, platform, folder, date):
    """The wheel's contents for `platform`, in FOLDER."""
    name, version, python, abi, _ = wheel.stem.split("-")
    with zipfile.ZipFile(wheel) as source:
        contents = {info.filename: (source.read(info), bool(info.external_attr >> 16 & 0o111))
                    for info in sorted(source.infolist(), key=lambda info: info.filename) if not info.is_dir()}
    about = f"{name}-{version}.dist-info"
    text = contents[f"{about}/WHEEL"][0].decode()
    head = "".join(line + "\n" for line in text.splitlines() if line and not line.startswith("Tag: "))
    tags = "".join(f"Tag: {python}-{abi}-{one}\n" for one in platform.split("."))
    contents[f"{about}/WHEEL"] = ((head + tags).encode(), False)
    del contents[f"{about}/RECORD"]
    record = io.StringIO()
    writer = csv.writer(record, lineterminator="\n")
    for inside, (content, _) in contents.items():
        writer.writerow(record_line(inside, content))
    writer.writerow([f"{about}/RECORD", "", ""])
    contents[f"{about}/RECORD"] = (record.getvalue().encode(), False)
    target = folder / f"{name}-{version}-{python}-{abi}-{platform}.whl"
    archive.write_zip(target, contents, date)
    return target


def main(root, wheel, folder):
    wheel = pathlib.Path(wheel)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print(renamed(wheel, platforms(wheel), folder, archive.source_date(root)))


if __name__ == "__main__":
    main(*sys.argv[1:])
