"""Archives that are the same, byte for byte, whenever and by whomever they are made."""

import gzip
import hashlib
import io
import os
import pathlib
import subprocess
import tarfile
import time
import zipfile

OLDEST_ZIP = 315532800  # 1980, where the format's time begins


def source_date(root):
    """The seconds since 1970 that everything made of this source is dated with: SOURCE_DATE_EPOCH, else the last commit's."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("dist: outside a git checkout SOURCE_DATE_EPOCH has to be set: the date of what is made")
    return int(done.stdout)


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def files_below(folder):
    """All below a folder, in the order of their names; folders come before what is in them."""
    return sorted(pathlib.Path(folder).rglob("*"), key=lambda path: path.relative_to(folder).parts)


def tar_gz(folder, target, top, date):
    """`folder` as `top` in a gzipped tar, of nobody's."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as out:
        for path in [folder, *files_below(folder)]:
            info = out.gettarinfo(path, arcname=str(pathlib.PurePosixPath(top, path.relative_to(folder))))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = date
            info.mode = 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644
            if info.isreg():
                with open(path, "rb") as content:
                    out.addfile(info, content)
            else:
                out.addfile(info)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=date) as out:
        out.write(buffer.getvalue())


def gzip_file(path, date, name=None):
    """Puts NAME, or the file's own name with .gz, in its place."""
    with open(path.with_name(name or path.name + ".gz"), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=date) as out:
        out.write(path.read_bytes())
    path.unlink()


def write_zip(target, contents, date):
    """{name: (bytes, is a program)} as a zip, in the order of the dict."""
    when = time.gmtime(max(date, OLDEST_ZIP))[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, (content, is_program) in contents.items():
            info = zipfile.ZipInfo(name, when)
            info.create_system = 3
            info.external_attr = (0o100755 if is_program else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, content)
