"""What a release consists of besides the wheels: the tree that the tarball and the Debian package have in common, and these two."""

import os
import re
import shutil
import subprocess
import sys

from . import archive, components, manual

COMPLETIONS = {
    "bash": "bash-completion/completions/gangrun",
    "zsh": "zsh/site-functions/_gangrun",
    "fish": "fish/vendor_completions.d/gangrun.fish",
}
DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
CONTROL = """Package: gangrun
Version: {version}
Section: net
Priority: optional
Architecture: {machine}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: libc6 (>= 2.17)
Recommends: ca-certificates
Suggests: libgssapi-krb5-2, python3
Description: starts the tasks of distributed training jobs as a gang
 gangrun starts all tasks of a job together on YARN, Spark, Kubernetes or this
 machine, tells each where the others are, and ends all of them when one fails.
"""


# Who publishes a package is whom its users write to: "Name <address>". The project itself has no address for mail.
MAINTAINER_VARIABLE = "GANGRUN_DEB_MAINTAINER"
NO_MAINTAINER = "The gangrun authors"


def version(root):
    return re.search(r"project\(gangrun VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)


def maintainer(environment):
    """For the field Maintainer of the Debian package."""
    given = environment.get(MAINTAINER_VARIABLE)
    if not given:
        return NO_MAINTAINER
    if not re.fullmatch(r"[^<>@\s][^<>@\n]* <[^<>@\s]+@[^<>@\s]+>", given):
        raise SystemExit(f'dist: {MAINTAINER_VARIABLE}: "{given}" is not of the form "Name <address>"')
    return given


def put(path, text, program=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if program else 0o644)


def copy(source, target, program=False):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if program else 0o644)


def said_by(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def fill(tree, root, programs, version, date):
    """bin, libexec and share of an installation."""
    gangrun = tree / "bin/gangrun"
    copy(programs / "gangrun", gangrun, program=True)
    for name in ("gangrun-agent", "gangrun-loader"):
        copy(programs / name, tree / "libexec" / name, program=True)
    copy(programs / "gangrun-pod-agent.gz", tree / "libexec/gangrun-pod-agent.gz")
    for name in manual.PROGRAMS:
        os.symlink("gangrun", tree / "bin" / name)
    for shell, place in COMPLETIONS.items():
        put(tree / "share" / place, said_by(gangrun, "completion", shell))
    for name, text in manual.pages(gangrun, version, date).items():
        put(tree / "share/man/man1" / name, text)
    about = tree / "share/doc/gangrun"
    for name in ("LICENSE", "CHANGELOG.md", "README.md"):
        copy(root / name, about / name)
    for name, path in components.texts(root).items():
        copy(path, about / "licenses" / name)


def tarball(tree, target, version, machine, date):
    path = target / f"gangrun-{version}-linux-{machine}.tar.gz"
    archive.tar_gz(tree, path, f"gangrun-{version}", date)
    return path


def compressed_pages(tree, date):
    """As Debian has them."""
    for page in sorted((tree / "share/man").rglob("*.1")):
        archive.gzip_file(page, date)


def debian_package(tree, target, version, machine, date, scratch):
    """Of the same tree, below usr/. dpkg-deb dates everything by SOURCE_DATE_EPOCH."""
    package = scratch / "deb"
    shutil.copytree(tree, package / "usr", symlinks=True)
    compressed_pages(package / "usr", date)
    # Where Debian's zsh looks.
    (package / "usr/share/zsh/site-functions").rename(package / "usr/share/zsh/vendor-completions")
    about = package / "usr/share/doc/gangrun"
    put(about / "copyright", said_by(tree / "bin/gangrun", "version", "--licenses"))
    archive.gzip_file(about / "CHANGELOG.md", date, "changelog.gz")
    size = sum(path.stat().st_size for path in archive.files_below(package) if path.is_file() and not path.is_symlink())
    put(package / "DEBIAN/control", CONTROL.format(version=version, machine=DEBIAN_MACHINES[machine], size=size // 1024,
                                                   maintainer=maintainer(os.environ)))
    for path in [package, *archive.files_below(package)]:
        if path.is_dir():
            path.chmod(0o755)
    path = target / f"gangrun_{version}_{DEBIAN_MACHINES[machine]}.deb"
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(date)}
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(package), str(path)], check=True, env=environment,
                   stdout=sys.stderr)
    return path
