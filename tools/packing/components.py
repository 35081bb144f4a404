"""What is linked into the programs and the module: licenses/components.txt, with the versions of this machine, and as SPDX."""

import hashlib
import json
import pathlib
import subprocess
import time

TEXTS = {"Apache-2.0": "LICENSE"}  # all others: licenses/NAME.txt


def read(root):
    """[{Name, Package or Python, License, In, Copyright}]"""
    text = (pathlib.Path(root) / "licenses/components.txt").read_text()
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in text.strip().split("\n\n")]


def texts_of(license):
    """The files with the texts of a licence expression."""
    words = license.replace("-or-later", "").split()
    return [TEXTS.get(word, f"licenses/{word}.txt") for word in words if word not in ("AND", "OR", "WITH")]


def texts(root):
    """{name: file} of the licenses of all that is linked in, and the list of that."""
    root = pathlib.Path(root)
    found = {"components.txt": root / "licenses/components.txt"}
    for one in read(root):
        for text in texts_of(one["License"]):
            found[pathlib.Path(text).stem.replace("LICENSE", "Apache-2.0") + ".txt"] = root / text
    return found


def version_of(component, python):
    """The version that is linked here. `python` is the one that the module is compiled with."""
    if "Python" in component:
        ask = [python, "-c", f"import importlib.metadata as m; print(m.version({component['Python']!r}))"]
    else:
        ask = ["dpkg-query", "-W", "-f", "${Version}", component["Package"]]
    return subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()


def identifier(name):
    return "SPDXRef-" + "".join(letter if letter.isalnum() else "-" for letter in name)


def package(name, version, license, copyright, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license, "copyrightText": copyright, **more}


def spdx(root, version, date, python, artefacts):
    """A bill of materials, SPDX 2.3: gangrun, each artefact {name: SHA-256} that it comes as, and all that is linked in."""
    components = [(one, version_of(one, python)) for one in read(root)]
    packages = [package("gangrun", version, "Apache-2.0", "The authors of gangrun", primaryPackagePurpose="APPLICATION")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-gangrun")]
    for name, digest in sorted(artefacts.items()):
        packages.append(package(name, version, "Apache-2.0", "The authors of gangrun", packageFileName=name,
                                checksums=[{"algorithm": "SHA256", "checksumValue": digest}]))
        relations.append((identifier(name), "GENERATED_FROM", "SPDXRef-gangrun"))
    for one, found in components:
        source = f"Debian package {one['Package']}" if "Package" in one else f"Python package {one['Python']}"
        packages.append(package(one["Name"], found, one["License"], one["Copyright"], sourceInfo=source,
                                comment=f"linked into {one['In']}"))
        relations.append(("SPDXRef-gangrun", "STATIC_LINK", identifier(one["Name"])))
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gangrun-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/gangrun-{version}-{digest[:32]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date)), "creators": ["Tool: gangrun-make-dist"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


def as_text(bill):
    return json.dumps(bill, indent=1) + "\n"
