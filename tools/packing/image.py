"""The image that brings agents into pods: an OCI archive of one layer, which needs no container engine.

The formats are those of the OCI image specification 1.0: an image layout in a tar.
"""

import gzip
import hashlib
import io
import json
import pathlib
import tarfile
import time

from . import components

TYPE = "application/vnd.oci.image."
# The processor that an ELF file is for, at this place of it, as OCI calls it.
MACHINE_AT = 18
MACHINES = {62: "amd64", 183: "arm64"}
PROGRAM = "gangrun-agent"
# A pod may ask that nobody is root. The number is nobody's on usual systems.
USER = "65532:65532"


def name(version):
    """Its reference, until somebody pushes it to a registry."""
    return f"localhost/{PROGRAM}:{version}"


def architecture(program):
    """Of the bytes of a program: "amd64"."""
    machine = int.from_bytes(program[MACHINE_AT:MACHINE_AT + 2], "little")
    if program[:4] != b"\x7fELF" or machine not in MACHINES:
        raise SystemExit(f"image: {PROGRAM} is no program for {' or '.join(MACHINES.values())}")
    return MACHINES[machine]


def add(archive, name, content, date, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(content), mode, date
    archive.addfile(info, io.BytesIO(content))


def layer(program, root, date):
    """The program, and the licenses of what is in it: the bytes of a tar."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as out:
        add(out, PROGRAM, program, date, 0o555)
        folder = tarfile.TarInfo("licenses")
        folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, 0o755, date
        out.addfile(folder)
        for name, path in sorted(components.texts(root).items()):
            add(out, f"licenses/{name}", path.read_bytes(), date)
    return buffer.getvalue()


def compressed(content):
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as out:
        out.write(content)
    return buffer.getvalue()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def as_json(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def described(kind, content, **more):
    return {"mediaType": TYPE + kind, "digest": digest(content), "size": len(content), **more}


def write(target, agent, root, reference, version, date):
    """The archive, with the program in the file `agent`. `reference` is the image's: "localhost/gangrun-agent:0.1.0"."""
    program = pathlib.Path(agent).read_bytes()
    machine = architecture(program)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    files = layer(program, root, date)
    packed = compressed(files)
    config = as_json({
        "architecture": machine, "os": "linux", "created": created,
        "config": {"User": USER, "WorkingDir": "/", "Entrypoint": ["/" + PROGRAM],
                   "Labels": {"org.opencontainers.image.title": PROGRAM, "org.opencontainers.image.version": version}},
        "rootfs": {"type": "layers", "diff_ids": [digest(files)]},
        "history": [{"created": created, "created_by": "gangrun's make dist"}],
    })
    manifest = as_json({"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json", "config": described("config.v1+json", config),
                        "layers": [described("layer.v1.tar+gzip", packed)]})
    names = {"org.opencontainers.image.ref.name": reference, "io.containerd.image.name": reference}
    entry = described("manifest.v1+json", manifest, platform={"architecture": machine, "os": "linux"}, annotations=names)
    index = as_json({"schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": [entry]})
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as out:
        add(out, "oci-layout", as_json({"imageLayoutVersion": "1.0.0"}), date)
        add(out, "index.json", index, date)
        for blob in (manifest, config, packed):
            add(out, "blobs/" + digest(blob).replace(":", "/"), blob, date)
