"""The ``personae`` command: serve (the default), build, check, pack."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from personae.errors import PersonaeError

from personae_server import __version__
from personae_server.settings import STATIC, add_flags

if TYPE_CHECKING:
    from personae.package.model import Problem

COMMANDS = ("serve", "build", "check", "pack")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0, 1 for a failure, 2 for wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in (*COMMANDS, "-h", "--help", "--version"):
        given.insert(0, "serve")
    options = _parser().parse_args(given)
    try:
        return int(options.run(options))
    except PersonaeError as error:
        print(f"personae: {error.message}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="personae", description="A player for characters.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the player (the default command)")
    add_flags(serve)
    serve.set_defaults(run=_serve)
    build = commands.add_parser("build", help="write the player as static files")
    build.add_argument("out", type=Path, help="folder to write to")
    build.set_defaults(run=_build)
    check = commands.add_parser("check", help="list every problem of a package")
    check.add_argument("path", type=Path, help="a zip or a folder")
    check.set_defaults(run=_check)
    pack = commands.add_parser("pack", help="make a package zip of a folder")
    pack.add_argument("dir", type=Path, help="the character's folder")
    pack.add_argument("-o", "--out", type=Path, required=True, help="the zip to write")
    pack.set_defaults(run=_pack)
    return parser


def _serve(options: argparse.Namespace) -> int:
    from personae_server.serve import serve

    serve(vars(options))
    return 0


def _build(options: argparse.Namespace) -> int:
    from personae_server.build import build

    count = build(STATIC, options.out)
    print(f"{count} files in {options.out}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from personae.authoring.check import check_path

    return _report(check_path(options.path))


def _pack(options: argparse.Namespace) -> int:
    from personae.authoring.pack import pack

    return _report(pack(options.dir, options.out))


def _report(problems: Iterable[Problem]) -> int:
    """One line a problem, as compilers print them; 1 when any of them is an error."""
    failed = 0
    for problem in problems:
        place = [problem.file, problem.line, problem.column]
        where = ":".join(str(part) for part in place if part is not None)
        print(f"{where}: {problem.severity}: {problem.message}")
        failed |= problem.severity == "error"
    return int(failed)
