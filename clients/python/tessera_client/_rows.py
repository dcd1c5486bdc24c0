"""The result of a statement."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence


class Rows(Sequence[Dict[str, Any]]):
    """Rows as dictionaries by column name. Columns of the same name: the last one counts; `values` has all."""

    def __init__(self, answer: Dict[str, Any]) -> None:
        self.columns: List[Dict[str, Any]] = answer.get("columns", [])
        #: Each row's values, in the order of the columns.
        self.values: List[List[Any]] = answer.get("rows", [])
        #: How many rows the statement changed; None: it changes none.
        self.rows_affected: Optional[int] = answer.get("rows_affected")
        #: The result was cut at the row limit.
        self.truncated: bool = answer.get("truncated", False)
        self.notices: List[str] = answer.get("notices", [])
        self._names = [column["name"] for column in self.columns]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [dict(zip(self._names, row)) for row in self.values[index]]
        return dict(zip(self._names, self.values[index]))

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for row in self.values:
            yield dict(zip(self._names, row))

    def one(self) -> Dict[str, Any]:
        """The only row. Raises LookupError where there is none, or another."""
        if len(self.values) != 1:
            raise LookupError(f"one row was expected, and there are {len(self.values)}")
        return self[0]

    def scalar(self) -> Any:
        """The first value of the first row; None: there is none."""
        return self.values[0][0] if self.values and self.values[0] else None

    def __repr__(self) -> str:
        return f"Rows({list(self)!r})"
