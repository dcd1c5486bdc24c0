"""The client for asyncio: the methods of `Client` as coroutines. Requests at the same time have connections of their own."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Optional, Tuple, TypeVar

from ._api import Api, TransactionApi, begin, end
from ._errors import ConnectionLost, SerializationError, TesseraError
from ._requests import ATTEMPTS_MAX, Address, Call, Credential, data_of, may_repeat, wait_before
from .client import piece_of

T = TypeVar("T")
_Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]
_IDLE_MAX = 16


class AsyncClient(Api):
    """As `Client`, for asyncio. `async with AsyncClient(…) as client:` closes its connections at the end."""

    def __init__(self, url: str = "http://127.0.0.1:8080", *, api_key: Optional[str] = None, username: Optional[str] = None,
                 password: Optional[str] = None, timeout: float = 120.0, context: Optional[ssl.SSLContext] = None) -> None:
        self._address = Address.of(url)
        self._credential = Credential.of(api_key, username, password)
        self._timeout = timeout
        self._context = context or (ssl.create_default_context() if self._address.scheme == "https" else None)
        self._idle: List[_Streams] = []
        self._signing_in: Optional[asyncio.Lock] = None

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections that rest."""
        idle, self._idle = self._idle, []
        for _, writer in idle:
            writer.close()

    def transaction(self, isolation: Optional[str] = None, read_only: bool = False,
                    timeout: Optional[float] = None) -> "AsyncTransaction":
        """`async with client.transaction() as tx:` commits at the end, and rolls back where an exception comes out."""
        return AsyncTransaction(self, begin(isolation, read_only, timeout))

    async def tx(self, work: Callable[["AsyncTransaction"], Awaitable[T]], attempts: int = 10) -> T:
        """Runs `work` in a transaction, again where a concurrent one came first."""
        for attempt in range(attempts):
            try:
                async with self.transaction() as transaction:
                    return await work(transaction)
            except SerializationError as error:
                if attempt + 1 == attempts:
                    raise
                await asyncio.sleep(wait_before(attempt, error))
        raise AssertionError("not reached")

    # Requests

    async def _send(self, call: Call) -> Any:
        for attempt in range(ATTEMPTS_MAX):
            try:
                return call.then(await self._data(call))
            except TesseraError as error:
                if not may_repeat(call, error, attempt):
                    raise
                await asyncio.sleep(wait_before(attempt, error))
        raise AssertionError("not reached")

    async def _data(self, call: Call) -> Any:
        await self._sign_in(renewing=None)
        used = self._credential.token
        try:
            return data_of(*await self._exchange(call))
        except TesseraError as error:
            if not self._credential.may_renew(error):
                raise
        await self._sign_in(renewing=used)
        return data_of(*await self._exchange(call))

    async def _sign_in(self, renewing: Optional[str]) -> None:
        credential = self._credential
        if credential.header is not None and credential.token != renewing or credential.api_key is not None:
            return
        if self._signing_in is None:
            self._signing_in = asyncio.Lock()
        async with self._signing_in:
            if credential.token != renewing:
                return
            credential.token = None
            call = credential.sign_in()
            call.then(data_of(*await self._exchange(call)))

    async def _exchange(self, call: Call) -> Tuple[int, Dict[str, str], bytes]:
        streams = self._idle.pop() if self._idle else await self._connect()
        is_whole = False
        try:
            status, headers, reader = await asyncio.wait_for(self._ask(streams, call), self._timeout)
            body = await asyncio.wait_for(_body(reader, headers, call.method, status), self._timeout)
            is_whole = headers.get("connection", "").lower() != "close"
            return status, headers, body
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError) as error:
            raise ConnectionLost(f"the connection was lost: {error!r}") from error
        finally:
            # Also where the caller was cancelled: what comes on it would be another request's answer.
            if is_whole and len(self._idle) < _IDLE_MAX:
                self._idle.append(streams)
            else:
                streams[1].close()

    async def _connect(self) -> _Streams:
        host, port = self._address.host, self._address.port
        try:
            return await asyncio.wait_for(asyncio.open_connection(host, port, ssl=self._context), self._timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise ConnectionLost(f"{host}:{port} does not answer: {error}") from error

    async def _ask(self, streams: _Streams, call: Call) -> Tuple[int, Dict[str, str], asyncio.StreamReader]:
        reader, writer = streams
        body, headers = call.encoded()
        headers["Host"] = f"{self._address.host}:{self._address.port}"
        headers["Content-Length"] = str(len(body or b""))
        if self._credential.header is not None:
            headers["Authorization"] = self._credential.header
        head = f"{call.method} {self._address.prefix}{call.path} HTTP/1.1\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(head.encode("latin-1") + b"\r\n" + (body or b""))
        await writer.drain()
        status_line = await reader.readline()
        if not status_line:
            raise ConnectionResetError("the server closed the connection")
        answered: Dict[str, str] = {}
        while True:
            line = (await reader.readline()).decode("latin-1").rstrip("\r\n")
            if not line:
                break
            name, _, value = line.partition(":")
            answered[name.lower()] = value.strip()
        return int(status_line.split(b" ", 2)[1]), answered, reader

    async def _stream(self, call: Call) -> AsyncIterator[str]:
        await self._sign_in(renewing=None)
        streams = await self._connect()
        try:
            status, headers, reader = await self._ask(streams, call)
            if status >= 400:
                data_of(status, headers, await _body(reader, headers, call.method, status))
            pending = b""
            async for part in _parts(reader, headers):
                *lines, pending = (pending + part).split(b"\n")
                for line in lines:
                    piece = piece_of(line)
                    if piece is not None:
                        yield piece
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ConnectionLost(f"the answer broke off: {error!r}") from error
        finally:
            streams[1].close()


async def _body(reader: asyncio.StreamReader, headers: Dict[str, str], method: str, status: int) -> bytes:
    if status == 204 or method == "HEAD":
        return b""
    return b"".join([part async for part in _parts(reader, headers)])


async def _parts(reader: asyncio.StreamReader, headers: Dict[str, str]) -> AsyncIterator[bytes]:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while True:
            size = int((await reader.readline()).split(b";")[0], 16)
            part = await reader.readexactly(size)
            await reader.readline()
            if size == 0:
                return
            yield part
    elif "content-length" in headers:
        yield await reader.readexactly(int(headers["content-length"]))
    else:
        while True:
            part = await reader.read(65536)
            if not part:
                return
            yield part


class AsyncTransaction(TransactionApi):
    """An open transaction. Made by `AsyncClient.transaction`."""

    def __init__(self, client: AsyncClient, beginning: Call) -> None:
        self._client = client
        self._beginning = beginning
        self._is_open = False

    async def _send(self, call: Call) -> Any:
        return await self._client._send(call)

    async def commit(self) -> None:
        """Raises SerializationError where a concurrent transaction came first; then nothing was changed."""
        await self._end("commit")

    async def rollback(self) -> None:
        await self._end("rollback")

    async def _end(self, how: str) -> None:
        self._is_open = False
        await self._send(end(self.id, how))

    async def __aenter__(self) -> "AsyncTransaction":
        self.id = await self._client._send(self._beginning)
        self._is_open = True
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not self._is_open:
            return
        if kind is None:
            await self.commit()
            return
        try:
            await self.rollback()
        except TesseraError:
            # It may be over already; what came out of the block is what the caller has to hear.
            pass
