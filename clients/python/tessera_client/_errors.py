"""Errors of the server, as classes."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type


class TesseraError(Exception):
    """What the server refused. `code` is the server's; `sqlstate`, `position` (from 1) and `hint` are there where they apply."""

    def __init__(self, message: str, *, status: int = 0, code: str = "", details: Optional[Dict[str, Any]] = None,
                 request_id: Optional[str] = None, retry_after: Optional[float] = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details: Dict[str, Any] = details or {}
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def sqlstate(self) -> Optional[str]:
        return self.details.get("sqlstate")

    @property
    def position(self) -> Optional[int]:
        return self.details.get("position")

    @property
    def hint(self) -> Optional[str]:
        return self.details.get("hint")

    def __str__(self) -> str:
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{self.message}{hint}"


class AuthenticationError(TesseraError):
    """The credential is missing, wrong or over (401)."""


class ForbiddenError(TesseraError):
    """The credential may not do this (403)."""


class NotFoundError(TesseraError):
    """There is no such thing (404)."""


class ConstraintError(TesseraError):
    """A constraint was violated: SQLSTATE 23xxx."""


class SerializationError(TesseraError):
    """A concurrent transaction changed the same data; running the transaction again may succeed (409)."""


class OverloadError(TesseraError):
    """Too many requests, or the server has to rest (429, 503). `retry_after` is in seconds."""


class ConnectionLost(TesseraError):
    """The server does not answer. What was sent may have been done or not."""


_BY_STATUS: Dict[int, Type[TesseraError]] = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    429: OverloadError,
    503: OverloadError,
}


def error_of(status: int, body: Any, headers: Dict[str, str]) -> TesseraError:
    """The error that an answer of the server's means."""
    error = body.get("error", {}) if isinstance(body, dict) else {}
    meta = body.get("meta", {}) if isinstance(body, dict) else {}
    details = error.get("details") or {}
    kind = _BY_STATUS.get(status, TesseraError)
    state = details.get("sqlstate") or ""
    if error.get("code") == "serialization_failure" or state in ("40001", "40P01"):
        kind = SerializationError
    elif state.startswith("23"):
        kind = ConstraintError
    after = headers.get("retry-after")
    return kind(
        error.get("message") or f"the server answered {status}",
        status=status,
        code=error.get("code") or str(status),
        details=details,
        request_id=meta.get("request_id") or headers.get("x-request-id"),
        retry_after=float(after) if after is not None and after.isdigit() else None,
    )
