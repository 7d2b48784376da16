"""What several tests of packages need."""

from pathlib import Path

import personae
from personae.package.archive.files import Source
from personae.package.load import load_steps
from personae.package.model import Package
from personae.package.report import Report
from personae.package.steps import run

BUILTIN_FOLDER = Path(personae.__file__).parent / "builtin"
"""The agents the player ships."""


def load_package(source: Source) -> Package:
    """A package in one go. Raises PackageError."""
    return run(load_steps(source, Report()))
