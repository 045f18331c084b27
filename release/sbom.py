"""Prints a program's bill of materials, in CycloneDX: the modules that Go linked into it, and LMDB,
whose C code is in one of them. One that CycloneDX's schema does not allow is an error.

usage: sbom.py PROGRAM VERSION
"""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL


def library(path: str, version: str, checksum: str | None = None) -> Component:
    url = PackageURL.from_string(f"pkg:golang/{path}@{version}")
    component = Component(
        type=ComponentType.LIBRARY,
        name=path,
        version=version,
        purl=url,
        bom_ref=str(url),
    )
    if checksum:  # go.sum's: h1: and SHA-256 in base64
        content = base64.b64decode(checksum.removeprefix("h1:")).hex()
        component.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=content))
    return component


def lmdb(module: str) -> Component:
    """LMDB's C library, of the version that a module's header states."""
    folder = subprocess.check_output(["go", "list", "-m", "-f", "{{.Dir}}", module], text=True)
    header = (Path(folder.strip()) / "lmdb/lmdb.h").read_text()
    numbers = re.findall(r"^#define MDB_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)$", header, re.M)
    if len(numbers) != 3:
        sys.exit(f"sbom.py: {module}: found version {numbers} in lmdb.h, expected three numbers")
    version = ".".join(numbers)
    url = PackageURL.from_string(f"pkg:github/LMDB/lmdb@LMDB_{version}")
    return Component(
        type=ComponentType.LIBRARY, name="lmdb", version=version, purl=url, bom_ref=str(url)
    )


program, version = sys.argv[1:]
built = json.loads(subprocess.check_output(["go", "version", "-m", "-json", program]))
bom = Bom()
bom.metadata.component = Component(
    type=ComponentType.APPLICATION, name="tcbuild", version=version, bom_ref="tcbuild"
)
libraries = [library("std", built["GoVersion"].removeprefix("go"))]
for module in built["Deps"]:
    linked = module.get("Replace") or module
    libraries.append(library(linked["Path"], linked["Version"], linked.get("Sum")))
libraries.append(lmdb("github.com/bmatsuo/lmdb-go"))
for component in libraries:
    bom.components.add(component)
bom.register_dependency(bom.metadata.component, libraries)
document = json.loads(JsonV1Dot6(bom).output_as_string())
# Of each run, not of the program.
del document["serialNumber"], document["metadata"]["timestamp"]
printed = json.dumps(document, indent=2)
if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(printed):
    sys.exit(f"sbom.py: {program}: {error}")
print(printed)
