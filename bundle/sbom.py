"""The bill of materials, beside the licences: every package of others that a host serves or runs.

CycloneDX JSON. ``personae:part`` says where a package is: ``browser`` for what the built files
contain, ``server`` for what runs in the container, at the versions of its lock (an installed wheel
leaves them to its installer). Without time and serial number: one version has one text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from bundle import wheels
from bundle.licences import shipped_packages
from bundle.lock import LOCKS, Pin, pins
from bundle.paths import WORKER

NAME = "sbom.cdx.json"
_ALGORITHMS = {"sha512": HashAlgorithm.SHA_512, "sha1": HashAlgorithm.SHA_1}


def write(target: Path) -> None:
    player = Component(
        name="personae",
        version=wheels.version(),
        type=ComponentType.APPLICATION,
        bom_ref="personae",
        licenses=[LicenseFactory().make_from_string("MIT")],
        purl=PackageURL("pypi", None, "personae", wheels.version()),
    )
    packages = [*npm_packages(), *browser_wheels(), *server_packages()]
    bom = Bom(components=packages, metadata=BomMetaData(component=player))
    bom.register_dependency(player, packages)
    # Neither belongs into a file that is the same for the same contents.
    bom.metadata.timestamp = bom.serial_number = None  # type: ignore[assignment]
    writer = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    target.write_text(writer.output_as_string(indent=1) + "\n", "utf-8")


def npm_packages() -> Iterator[Component]:
    licences = LicenseFactory()
    lock = json.loads((WORKER / "package-lock.json").read_text("utf-8"))["packages"]
    for folder in shipped_packages():
        manifest = json.loads((folder / "package.json").read_text("utf-8"))
        scope, _, name = manifest["name"].rpartition("/")
        integrity = lock[folder.relative_to(WORKER).as_posix()]["integrity"]
        algorithm, _, digest = integrity.partition("-")
        yield Component(
            group=scope or None,
            name=name,
            version=manifest["version"],
            licenses=[licences.make_from_string(manifest["license"])],
            hashes=[HashType(alg=_ALGORITHMS[algorithm], content=base64.b64decode(digest).hex())],
            **_place("browser", PackageURL("npm", scope or None, name, manifest["version"])),
        )


def browser_wheels() -> Iterator[Component]:
    for pin in pins(wheels.REQUIREMENTS):
        found = [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in pin.hashes]
        yield _python_package(pin, "browser", found)


def server_packages() -> Iterator[Component]:
    """Without hashes: each platform has a file of its own, and the lock has them all."""
    for pin in pins(LOCKS / "server.lock"):
        yield _python_package(pin, "server", [])


def _python_package(pin: Pin, part: str, found: list[HashType]) -> Component:
    return Component(
        name=pin.name,
        version=pin.version,
        hashes=found,
        **_place(part, PackageURL("pypi", None, pin.name, pin.version), pin.marker),
    )


def _place(part: str, purl: PackageURL, marker: str = "") -> dict[str, Any]:
    properties = [Property(name="personae:part", value=part)]
    if marker:
        properties.append(Property(name="personae:marker", value=marker))
    return {"purl": purl, "bom_ref": f"{part}:{purl}", "properties": properties}
