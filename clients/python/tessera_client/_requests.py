"""What both clients have in common: requests as values, and what their answers mean."""

from __future__ import annotations

import json
import os
import random
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from ._errors import ConnectionLost, OverloadError, TesseraError, error_of

ATTEMPTS_MAX = 5
_FIRST_WAIT = 0.05
_LONGEST_WAIT = 5.0
#: Who is told to come back later than that, such as the next day, learns why.
_RETRY_AFTER_MAX = 30.0


def same(data: Any) -> Any:
    return data


@dataclass
class Call:
    """One request. `then` makes of the answer's data what the caller gets."""

    method: str
    path: str
    body: Any = None
    headers: Dict[str, str] = field(default_factory=dict)
    then: Callable[[Any], Any] = same
    #: Sending it twice does what sending it once does.
    repeatable: bool = True

    def encoded(self) -> Tuple[Optional[bytes], Dict[str, str]]:
        headers = dict(self.headers)
        if self.body is None:
            return None, headers
        if isinstance(self.body, (bytes, bytearray)):
            return bytes(self.body), headers
        headers["Content-Type"] = "application/json"
        return json.dumps(self.body, separators=(",", ":"), ensure_ascii=False).encode(), headers


def write(method: str, path: str, body: Any = None, then: Callable[[Any], Any] = same) -> Call:
    """A request that changes something: with a key of its own, by which the server knows it again."""
    return Call(method, path, body, {"Idempotency-Key": str(uuid.uuid4())}, then)


def path(*parts: str, query: Optional[Mapping[str, Any]] = None) -> str:
    """A path of parts; each is escaped. ValueError: "." and ".." lead to another path and cannot be escaped."""
    for part in parts:
        if part in (".", ".."):
            raise ValueError(f"a part of a path cannot be {part!r}")
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    return "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{urlencode(given)}" if given else "")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def given(**members: Any) -> Dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def data_of(status: int, headers: Dict[str, str], body: bytes) -> Any:
    """The data of an answer. Raises the error that it is."""
    parsed: Any = None
    if body and "json" in headers.get("content-type", ""):
        parsed = json.loads(body)
    if status >= 400:
        raise error_of(status, parsed, headers)
    if isinstance(parsed, dict) and "data" in parsed:
        return parsed["data"]
    return parsed if parsed is not None else (body or None)


def wait_before(attempt: int, error: Exception) -> float:
    """Seconds: longer each time, and not the same for all."""
    least = getattr(error, "retry_after", None) or 0.0
    return max(least, min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt) * (0.5 + random.random() / 2))


def may_repeat(call: Call, error: Exception, attempt: int) -> bool:
    if attempt + 1 >= ATTEMPTS_MAX or not call.repeatable:
        return False
    if isinstance(error, OverloadError):
        # Without a time it is not for now: a feature that is switched off.
        return error.retry_after is not None and error.retry_after <= _RETRY_AFTER_MAX
    return isinstance(error, ConnectionLost)


@dataclass
class Address:
    scheme: str
    host: str
    port: int
    prefix: str

    @staticmethod
    def of(url: str) -> "Address":
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server; give one such as http://127.0.0.1:8080")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return Address(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


@dataclass
class Credential:
    """An API key, or a user's name and password; what is not given comes from the environment."""

    api_key: Optional[str] = None
    username: str = "admin"
    password: Optional[str] = None
    token: Optional[str] = None

    @staticmethod
    def of(api_key: Optional[str], username: Optional[str], password: Optional[str]) -> "Credential":
        key = api_key or (None if password else os.environ.get("TESSERA_CLIENT_API_KEY"))
        name = username or os.environ.get("TESSERA_CLIENT_USERNAME") or "admin"
        secret = password or os.environ.get("TESSERA_CLIENT_PASSWORD")
        if not key and not secret:
            raise ValueError("give an api_key, or a username and a password")
        return Credential(key or None, name, secret)

    @property
    def header(self) -> Optional[str]:
        if self.api_key is not None:
            return f"ApiKey {self.api_key}"
        return f"Bearer {self.token}" if self.token is not None else None

    def sign_in(self) -> Call:
        return Call("POST", "/v1/auth/login", {"username": self.username, "password": self.password}, then=self.signed_in)

    def signed_in(self, data: Any) -> None:
        token = data.get("access_token")
        if token is None:
            raise TesseraError("the user has a second factor; use an API key", status=401, code="mfa_required")
        self.token = token

    def may_renew(self, error: TesseraError) -> bool:
        """A token that is over is got anew; an API key, or a wrong password, is not."""
        return error.status == 401 and self.api_key is None and self.token is not None


Json = Union[None, bool, int, float, str, list, dict]
