"""Files that the person who runs the server offers in the form of a new crawl: a request names them, never a path."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from periplus.errors import ConfigError
from periplus.web.bodies import NewTask

__all__ = ["Choices"]


@dataclass(frozen=True, slots=True)
class Choices:
    """Models of `periplus classifier train` and city databases (.mmdb), by the names under which they are offered."""

    models: Mapping[str, Path] = field(default_factory=dict)
    databases: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, models: Iterable[Path], databases: Iterable[Path]) -> "Choices":
        """ConfigError if one of the files is not there."""
        return cls(_named(models, "--classifier"), _named(databases, "--ip-database"))

    def to_json(self) -> dict[str, Any]:
        """The names, for the form."""
        return {"models": sorted(self.models), "databases": sorted(self.databases)}

    def settings(self, form: NewTask) -> dict[str, str]:
        """What the form's choices mean in the job; a name that is not offered means nothing."""
        found: dict[str, str] = {}
        if form.model in self.models:
            found["classifier_model"] = str(self.models[form.model])
        if form.database in self.databases:
            found["ip_database"] = str(self.databases[form.database])
        return found

    def errors(self, form: NewTask) -> list[dict[str, str]]:
        """What is wrong with the form's choices."""
        wrong = []
        if form.model and form.model not in self.models:
            wrong.append(f"No model {form.model[:60]!r} is offered here.")
        if form.database and form.database not in self.databases:
            wrong.append(f"No database {form.database[:60]!r} is offered here.")
        return [{"field": "strategy", "text": text} for text in wrong]


def _named(files: Iterable[Path], option: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in files:
        if not file.is_file():
            raise ConfigError(f"{option} {file}: there is no such file")
        name = file.name if file.name not in found else f"{file.parent.name}/{file.name}"
        found[name] = file.absolute()
    return found
