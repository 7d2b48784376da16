"""``make pin-image``: writes the digest of the container's base image behind its tag.

Asks the image's registry through skopeo or docker, whichever is installed. The digest is that of
the list of all platforms, so that one Containerfile builds on each. Run it again to take in a newer
image of the same tag.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bundle.paths import ROOT

_FROM = re.compile(r"^(FROM )([^\s@]+)(?:@sha256:[0-9a-f]{64})?", re.MULTILINE)

# Each prints the manifest's bytes, whose SHA-256 is the digest.
ASKERS = (
    ("skopeo", "inspect", "--raw", "docker://{image}"),
    ("docker", "buildx", "imagetools", "inspect", "--raw", "{image}"),
)


def main(containerfile: Path = ROOT / "Containerfile") -> None:
    text = containerfile.read_text("utf-8")
    digests = {image: digest_of(image) for image in images(text)}
    containerfile.write_text(pinned(text, digests), "utf-8")
    for image, digest in digests.items():
        print(f"{image}@{digest}")


def images(text: str) -> list[str]:
    """The base images with their tags, each once."""
    return list(dict.fromkeys(found[2] for found in _FROM.finditer(text)))


def pinned(text: str, digests: Mapping[str, str]) -> str:
    """``text`` with every base image at its digest."""
    return _FROM.sub(lambda found: f"{found[1]}{found[2]}@{digests[found[2]]}", text)


def digest_of(image: str) -> str:
    """Ends the program with a reason when it cannot be known."""
    for asker in ASKERS:
        if not shutil.which(asker[0]):
            continue
        command = [part.format(image=image) for part in asker]
        done = subprocess.run(command, capture_output=True)  # noqa: S603
        if done.returncode == 0 and _is_list(done.stdout):
            return f"sha256:{hashlib.sha256(done.stdout).hexdigest()}"
        print(f"{asker[0]}: {done.stderr.decode('utf-8', 'replace').strip()}", file=sys.stderr)
    sys.exit(f"The digest of {image} is not known: install skopeo or docker, with a registry near.")


def _is_list(manifest: bytes) -> bool:
    try:
        return isinstance(json.loads(manifest).get("manifests"), list)
    except (ValueError, AttributeError):
        return False


if __name__ == "__main__":
    main()
