"""Collects everything wrong with a package, so that one message can list it all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from personae.errors import PackageError
from personae.package.model import Problem

SHOWN = 50
"""Problems spelled out in one message; ``detail["problems"]`` always has all of them."""


@dataclass(slots=True)
class Report:
    """Problems in the order in which they were found, each of them once."""

    found: dict[Problem, None] = field(default_factory=dict)

    def error(
        self, file: str, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        self.found[Problem("error", file, message, line, column)] = None

    def warning(
        self, file: str, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        self.found[Problem("warning", file, message, line, column)] = None

    def add(self, other: Report) -> None:
        self.found.update(other.found)

    @property
    def problems(self) -> list[Problem]:
        return list(self.found)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "warning"]

    def stop_on_errors(self) -> None:
        """Raises ``failure`` if any problem so far is an error."""
        if self.errors:
            raise self.failure()

    def failure(self) -> PackageError:
        """The error that lists every problem found so far, as objects with Problem's fields."""
        problems = [asdict(problem) for problem in self.found]
        return PackageError("package_invalid", self._message(), problems=problems)

    def _message(self) -> str:
        errors = self.errors
        lines = [describe(problem) for problem in errors[:SHOWN]]
        if len(errors) > SHOWN:
            lines.append(f"and {len(errors) - SHOWN} more")
        return "The package cannot be played:\n" + "\n".join(f"- {line}" for line in lines)


def describe(problem: Problem) -> str:
    """``file:line:column: message`` with the parts that are known."""
    place = ":".join(
        str(part) for part in (problem.file, problem.line, problem.column) if part is not None
    )
    return f"{place}: {problem.message}" if place else problem.message
