"""What a client can do. Each method makes one request and hands it to `_send`, which blocks or gives a coroutine."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence

from ._requests import Call, given, path, write
from ._rows import Rows


class Statements:
    """Runs statements; the base of clients and of transactions."""

    def _send(self, call: Call) -> Any:
        raise NotImplementedError

    def _statement(self, body: Dict[str, Any]) -> Call:
        raise NotImplementedError

    def sql(self, text: str, *parameters: Any, max_rows: Optional[int] = None, timeout: Optional[float] = None) -> Any:
        """Runs one statement of SQL or Cypher; $1, $2, … are the parameters. Gives Rows.

        `timeout`: seconds after which the server cancels it.
        """
        body = given(sql=text, max_rows=max_rows, timeout_secs=timeout)
        if parameters:
            body["parameters"] = list(parameters)
        return self._send(self._statement(body))

    def cypher(self, text: str, parameters: Optional[Dict[str, Any]] = None, max_rows: Optional[int] = None) -> Any:
        """Runs one statement of Cypher; $name is a parameter. Gives Rows."""
        return self._send(self._statement(given(sql=text, language="cypher", parameters=parameters, max_rows=max_rows)))

    def many(self, text: str, parameters: Iterable[Sequence[Any]]) -> Any:
        """Runs a statement once per set of parameters, all or none. Gives the number of changed rows."""
        sets = [list(each) for each in parameters]
        call = self._statement({"sql": text, "parameters": sets})
        call.then = lambda answer: answer.get("rows_affected")
        return self._send(call)


class Api(Statements):
    def _statement(self, body: Dict[str, Any]) -> Call:
        return write("POST", "/v1/query/execute", body, Rows)

    def _stream(self, call: Call) -> Any:
        raise NotImplementedError

    def me(self) -> Any:
        """The user who is signed in."""
        return self._send(Call("GET", "/v1/users/me"))

    # Documents

    def create_collection(self, name: str, schema: Optional[Dict[str, Any]] = None) -> Any:
        return self._send(write("POST", "/v1/collections", given(name=name, schema=schema)))

    def drop_collection(self, name: str) -> Any:
        return self._send(write("DELETE", path("v1", "collections", name)))

    def insert_document(self, collection: str, document: Dict[str, Any]) -> Any:
        """Gives the stored document, with its id."""
        return self._send(write("POST", path("v1", "collections", collection, "documents"), document))

    def insert_documents(self, collection: str, documents: Iterable[Dict[str, Any]]) -> Any:
        body = {"documents": list(documents)}
        return self._send(write("POST", path("v1", "collections", collection, "documents", "bulk"), body))

    def document(self, collection: str, id: str) -> Any:
        return self._send(Call("GET", path("v1", "collections", collection, "documents", id)))

    def replace_document(self, collection: str, id: str, document: Dict[str, Any]) -> Any:
        return self._send(write("PUT", path("v1", "collections", collection, "documents", id), document))

    def change_document(self, collection: str, id: str, members: Dict[str, Any]) -> Any:
        """Changes these members, and leaves the others."""
        return self._send(write("PATCH", path("v1", "collections", collection, "documents", id), members))

    def delete_document(self, collection: str, id: str) -> Any:
        return self._send(write("DELETE", path("v1", "collections", collection, "documents", id)))

    def search(self, collection: str, query: Optional[str] = None, *, filter: Optional[Dict[str, Any]] = None,
               limit: int = 10, offset: int = 0, mode: Optional[str] = None) -> Any:
        """Documents by words, by meaning or by both (`mode`: text, vector, hybrid), and by a filter. Gives a list, best first."""
        body = given(query=query, filters=filter, limit=limit, offset=offset, mode=mode)
        return self._send(
            Call("POST", path("v1", "collections", collection, "search"), body, then=lambda found: found["documents"])
        )

    # Vectors

    def create_vectors(self, name: str, dimensions: int, metric: str = "cosine") -> Any:
        body = {"name": name, "dimensions": dimensions, "metric": metric}
        return self._send(write("POST", "/v1/vectors/collections", body))

    def upsert_vectors(self, name: str, vectors: Iterable[Dict[str, Any]]) -> Any:
        """Each has an `id`, a `vector` (or a `text`, which is embedded) and may have `metadata`."""
        body = {"vectors": list(vectors)}
        return self._send(write("POST", path("v1", "vectors", "collections", name, "vectors", "batch"), body))

    def nearest(self, name: str, vector: Optional[Sequence[float]] = None, *, text: Optional[str] = None, limit: int = 10,
                filter: Optional[Dict[str, Any]] = None) -> Any:
        """The items nearest to a vector, or to a text's, best first."""
        body = given(vector=None if vector is None else list(vector), query=text, limit=limit, filter=filter)
        return self._send(Call("POST", path("v1", "vectors", "collections", name, "search"), body))

    def delete_vectors(self, name: str, ids: Iterable[str]) -> Any:
        body = {"ids": list(ids)}
        return self._send(write("DELETE", path("v1", "vectors", "collections", name, "vectors"), body))

    # Models

    def embed(self, text: str, model: Optional[str] = None) -> Any:
        """The vector of a text."""
        return self._send(Call("POST", "/v1/ai/embeddings", given(text=text, model=model), then=lambda a: a["embedding"]))

    def embed_many(self, texts: Iterable[str], model: Optional[str] = None) -> Any:
        body = given(texts=list(texts), model=model)
        return self._send(Call("POST", "/v1/ai/embeddings/batch", body, then=lambda a: a["embeddings"]))

    def verify(self, statement: str, anchors: Iterable[str], **options: Any) -> Any:
        """Whether a statement is true, from texts that are known to be true: verdict, confidence, reason."""
        body = {"statement": statement, "truth_anchors": list(anchors), **options}
        return self._send(Call("POST", "/v1/ai/nli/verify", body))

    def begin_chat(self, collections: Optional[List[str]] = None, **options: Any) -> Any:
        """Begins a chat whose answers are based on these collections. Gives its id."""
        body = given(collections=collections, **options)
        return self._send(write("POST", "/v1/ai/sessions", body, lambda session: session["id"]))

    def chat(self, message: str, session: Optional[str] = None, **options: Any) -> Any:
        """The whole answer: content, session_id, citations."""
        body = given(message=message, session_id=session, **options)
        return self._send(Call("POST", "/v1/ai/chat", body, repeatable=False))

    def chat_stream(self, message: str, session: Optional[str] = None, **options: Any) -> Any:
        """The answer's pieces as they come; iterate over it."""
        body = given(message=message, session_id=session, **options)
        return self._stream(Call("POST", "/v1/ai/chat/stream", body, repeatable=False))

    # Rows in bulk

    def import_csv(self, table: str, csv: bytes, create: bool = True, on_conflict: Optional[str] = None) -> Any:
        """Loads a file's bytes into a table, all or nothing. Gives the number of rows."""
        query = {"table": table, "create": create, "on_conflict": on_conflict}
        call = Call("POST", path("v1", "data", "import", "csv", query=query), csv, {"Content-Type": "text/csv"},
                    lambda answer: answer["rows"], repeatable=False)
        return self._send(call)

    def export_csv(self, table: Optional[str] = None, sql: Optional[str] = None) -> Any:
        """The bytes of a table, or of a query's rows, as CSV."""
        query = {"table": table, "sql": sql, "format": "csv"}
        return self._send(Call("GET", path("v1", "data", "export", query=query)))


class TransactionApi(Statements):
    """Statements in one transaction."""

    id: str

    def _statement(self, body: Dict[str, Any]) -> Call:
        # Sent twice it might be done twice.
        return Call("POST", path("v1", "transactions", self.id, "execute"), body, then=Rows, repeatable=False)


def begin(isolation: Optional[str], read_only: bool, timeout: Optional[float]) -> Call:
    body = given(isolation_level=isolation, read_only=read_only or None, timeout_secs=timeout)
    return Call("POST", "/v1/transactions", body, then=lambda state: state["id"])


def end(id: str, how: str) -> Call:
    return Call("POST", path("v1", "transactions", id, how), {}, repeatable=False)
