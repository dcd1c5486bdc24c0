"""The client that blocks. It may be used from several threads: each has a connection of its own."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, TypeVar

from ._api import Api, TransactionApi, begin, end
from ._errors import ConnectionLost, SerializationError, TesseraError
from ._requests import ATTEMPTS_MAX, Address, Call, Credential, data_of, may_repeat, wait_before

T = TypeVar("T")


class Client(Api):
    """`url` such as http://127.0.0.1:8080; an `api_key`, or `username` and `password` (else TESSERA_CLIENT_… variables).

    Requests are repeated where the connection was lost or the server is too busy; writes have a key by which the server knows
    them again, so that none is done twice. `timeout`: seconds that an answer may take.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", *, api_key: Optional[str] = None, username: Optional[str] = None,
                 password: Optional[str] = None, timeout: float = 120.0, context: Optional[ssl.SSLContext] = None) -> None:
        self._address = Address.of(url)
        self._credential = Credential.of(api_key, username, password)
        self._timeout = timeout
        self._context = context
        self._local = threading.local()
        self._signing_in = threading.Lock()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes this thread's connection; the next request opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None

    def transaction(self, isolation: Optional[str] = None, read_only: bool = False,
                    timeout: Optional[float] = None) -> "Transaction":
        """`with client.transaction() as tx:` commits at the end, and rolls back where an exception comes out."""
        return Transaction(self, self._send(begin(isolation, read_only, timeout)))

    def tx(self, work: Callable[["Transaction"], T], attempts: int = 10) -> T:
        """Runs `work` in a transaction, again where a concurrent one came first. `work` must do nothing else that lasts."""
        for attempt in range(attempts):
            try:
                with self.transaction() as transaction:
                    return work(transaction)
            except SerializationError as error:
                if attempt + 1 == attempts:
                    raise
                time.sleep(wait_before(attempt, error))
        raise AssertionError("not reached")

    # Requests

    def _send(self, call: Call) -> Any:
        for attempt in range(ATTEMPTS_MAX):
            try:
                return call.then(self._data(call))
            except TesseraError as error:
                if not may_repeat(call, error, attempt):
                    raise
                time.sleep(wait_before(attempt, error))
        raise AssertionError("not reached")

    def _data(self, call: Call) -> Any:
        self._sign_in(renewing=None)
        used = self._credential.token
        try:
            return data_of(*self._exchange(call))
        except TesseraError as error:
            if not self._credential.may_renew(error):
                raise
        self._sign_in(renewing=used)
        return data_of(*self._exchange(call))

    def _sign_in(self, renewing: Optional[str]) -> None:
        credential = self._credential
        if credential.header is not None and credential.token != renewing or credential.api_key is not None:
            return
        with self._signing_in:
            if credential.token != renewing:
                return
            credential.token = None
            call = credential.sign_in()
            call.then(data_of(*self._exchange(call)))

    def _exchange(self, call: Call) -> Tuple[int, Dict[str, str], bytes]:
        response = self._request(call)
        try:
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ConnectionLost(f"the connection was lost: {error}") from error
        return response.status, _headers(response), body

    def _request(self, call: Call) -> http.client.HTTPResponse:
        body, headers = self._encoded(call)
        connection = self._connection()
        try:
            connection.request(call.method, self._address.prefix + call.path, body, headers)
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ConnectionLost(f"{self._address.host}:{self._address.port} does not answer: {error}") from error

    def _encoded(self, call: Call) -> Tuple[Optional[bytes], Dict[str, str]]:
        body, headers = call.encoded()
        if self._credential.header is not None:
            headers["Authorization"] = self._credential.header
        return body, headers

    def _connection(self) -> http.client.HTTPConnection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._new_connection()
            self._local.connection = connection
        return connection

    def _new_connection(self) -> http.client.HTTPConnection:
        host, port, timeout = self._address.host, self._address.port, self._timeout
        if self._address.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def _stream(self, call: Call) -> Iterator[str]:
        self._sign_in(renewing=None)
        body, headers = self._encoded(call)
        # A connection of its own: the answer may be left unread.
        connection = self._new_connection()
        try:
            connection.request(call.method, self._address.prefix + call.path, body, headers)
            response = connection.getresponse()
            if response.status >= 400:
                data_of(response.status, _headers(response), response.read())
            for line in response:
                piece = piece_of(line)
                if piece is not None:
                    yield piece
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLost(f"the answer broke off: {error}") from error
        finally:
            connection.close()


def _headers(response: http.client.HTTPResponse) -> Dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def piece_of(line: bytes) -> Optional[str]:
    """The words in a line of a streamed answer. Raises the error that it tells."""
    if not line.startswith(b"data: {"):
        return None
    event = json.loads(line[6:])
    if "error" in event:
        raise TesseraError(event["error"].get("message", "the answer failed"), code=event["error"].get("code", ""))
    return event.get("delta") if not event.get("done") else None


class Transaction(TransactionApi):
    """An open transaction. Made by `Client.transaction`."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id
        self._is_open = True

    def _send(self, call: Call) -> Any:
        return self._client._send(call)

    def commit(self) -> None:
        """Raises SerializationError where a concurrent transaction came first; then nothing was changed."""
        self._end("commit")

    def rollback(self) -> None:
        self._end("rollback")

    def _end(self, how: str) -> None:
        self._is_open = False
        self._send(end(self.id, how))

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not self._is_open:
            return
        if kind is None:
            self.commit()
            return
        try:
            self.rollback()
        except TesseraError:
            # It may be over already; what came out of the block is what the caller has to hear.
            pass
