"""Client of the Tessera database. `Client` blocks; `AsyncClient` has the same methods as coroutines."""

from ._errors import (
    AuthenticationError,
    ConnectionLost,
    ConstraintError,
    ForbiddenError,
    NotFoundError,
    OverloadError,
    SerializationError,
    TesseraError,
)
from ._rows import Rows
from .aio import AsyncClient, AsyncTransaction
from .client import Client, Transaction

__all__ = [
    "AsyncClient",
    "AsyncTransaction",
    "AuthenticationError",
    "Client",
    "ConnectionLost",
    "ConstraintError",
    "ForbiddenError",
    "NotFoundError",
    "OverloadError",
    "Rows",
    "SerializationError",
    "TesseraError",
    "Transaction",
]
__version__ = "0.1.0"
