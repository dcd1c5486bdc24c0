"""Both clients against a running server: TESSERA_CLIENT_URL and TESSERA_CLIENT_PASSWORD say which."""

import asyncio
import http.client
import os
import threading
import unittest

from tessera_client import (
    AsyncClient,
    AuthenticationError,
    Client,
    ConnectionLost,
    ConstraintError,
    NotFoundError,
    SerializationError,
    TesseraError,
)

from tessera_client._errors import error_of
from tessera_client._requests import Call, may_repeat

URL = os.environ["TESSERA_CLIENT_URL"]


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(URL)
        self.addCleanup(self.client.close)

    def test_statements(self) -> None:
        client = self.client
        client.sql("DROP TABLE IF EXISTS py_pet")
        client.sql("CREATE TABLE py_pet (id int PRIMARY KEY, name text NOT NULL)")
        self.assertEqual(client.sql("INSERT INTO py_pet VALUES ($1, $2)", 1, "Rex").rows_affected, 1)
        self.assertEqual(client.many("INSERT INTO py_pet VALUES ($1, $2)", [(2, "Ada"), (3, "Bo")]), 2)
        rows = client.sql("SELECT id, name FROM py_pet ORDER BY id")
        self.assertEqual(list(rows), [{"id": 1, "name": "Rex"}, {"id": 2, "name": "Ada"}, {"id": 3, "name": "Bo"}])
        self.assertEqual((rows[1]["name"], rows[-1]["id"], len(rows[:2])), ("Ada", 3, 2))
        self.assertEqual(client.sql("SELECT name FROM py_pet WHERE id = $1", 2).one(), {"name": "Ada"})
        self.assertEqual(client.sql("SELECT count(*)::int FROM py_pet").scalar(), 3)
        self.assertIsNone(client.sql("SELECT id FROM py_pet WHERE false").scalar())
        self.assertTrue(client.sql("SELECT * FROM py_pet", max_rows=1).truncated)
        self.assertEqual(client.cypher("RETURN $x + 1 AS y", {"x": 41}).scalar(), 42)

    def test_errors(self) -> None:
        with self.assertRaises(TesseraError) as raised:
            self.client.sql("SELECT 1,\n nope")
        self.assertEqual((raised.exception.sqlstate, raised.exception.position, raised.exception.status), ("42703", 12, 400))
        self.assertTrue(raised.exception.request_id)
        self.client.sql("CREATE TABLE IF NOT EXISTS py_key (id int PRIMARY KEY)")
        self.client.sql("INSERT INTO py_key VALUES (1) ON CONFLICT DO NOTHING")
        with self.assertRaises(ConstraintError):
            self.client.sql("INSERT INTO py_key VALUES (1)")
        with self.assertRaises(NotFoundError):
            self.client.document("py_nowhere", "x")
        with self.assertRaises(AuthenticationError):
            Client(URL, api_key="ak_wrong").me()
        with self.assertRaises(ConnectionLost):
            Client("http://127.0.0.1:9", password="x" * 8)._exchange(self.client._credential.sign_in())
        with self.assertRaises(ValueError):
            Client("localhost:8080", api_key="x")
        for part in (".", ".."):
            with self.assertRaises(ValueError):
                self.client.document("py_nowhere", part)

    def test_who_may_come_back_only_tomorrow_is_told(self) -> None:
        for seconds, repeats in (("2", True), ("30442", False)):
            error = error_of(429, {"error": {"code": "budget_exhausted", "message": "none left"}}, {"retry-after": seconds})
            self.assertEqual(may_repeat(Call("GET", "/v1/users/me"), error, 0), repeats)

    def test_transactions(self) -> None:
        client = self.client
        client.sql("DROP TABLE IF EXISTS py_count")
        client.sql("CREATE TABLE py_count (id int PRIMARY KEY, n int)")
        client.sql("INSERT INTO py_count VALUES (1, 0)")
        with self.assertRaises(RuntimeError), client.transaction() as tx:
            tx.sql("UPDATE py_count SET n = 100")
            raise RuntimeError("no")
        self.assertEqual(client.sql("SELECT n FROM py_count").scalar(), 0)

        def work(tx):
            n = tx.sql("SELECT n FROM py_count WHERE id = 1").scalar()
            tx.sql("UPDATE py_count SET n = $1 WHERE id = 1", n + 1)

        def many() -> None:
            for _ in range(5):
                client.tx(work, attempts=100)
            client.close()

        threads = [threading.Thread(target=many) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(client.sql("SELECT n FROM py_count").scalar(), 20)

    def test_a_conflict_is_an_error_of_its_own(self) -> None:
        client = self.client
        client.sql("CREATE TABLE IF NOT EXISTS py_race (id int PRIMARY KEY, n int)")
        client.sql("INSERT INTO py_race VALUES (1, 0) ON CONFLICT DO NOTHING")
        with self.assertRaises(SerializationError), client.transaction() as tx:
            tx.sql("SELECT n FROM py_race WHERE id = 1")
            client.sql("UPDATE py_race SET n = n + 1 WHERE id = 1")
            tx.sql("UPDATE py_race SET n = n + 1 WHERE id = 1")

    def test_a_lost_connection_and_a_token_that_is_over(self) -> None:
        client = self.client
        client.sql("DROP TABLE IF EXISTS py_once")
        client.sql("CREATE TABLE py_once (id int)")
        lost = []
        getresponse = http.client.HTTPConnection.getresponse

        def losing(connection):
            response = getresponse(connection)
            if not lost:
                lost.append(True)
                response.read()
                raise ConnectionResetError("lost on the way")
            return response

        http.client.HTTPConnection.getresponse = losing
        try:
            client.sql("INSERT INTO py_once VALUES (1)")
        finally:
            http.client.HTTPConnection.getresponse = getresponse
        self.assertEqual(lost, [True])
        self.assertEqual(client.sql("SELECT count(*)::int FROM py_once").scalar(), 1)
        client._credential.token = "over"
        self.assertEqual(client.me()["username"], "admin")

    def test_documents_vectors_and_models(self) -> None:
        client = self.client
        fields = {"fields": [{"name": "title", "type": "string"}], "indexes": [{"name": "t", "fields": ["title"], "type": "text"}]}
        try:
            client.drop_collection("py_article")
        except NotFoundError:
            pass
        client.create_collection("py_article", fields)
        client.insert_document("py_article", {"id": "a", "title": "Sailing in the harbour"})
        client.insert_documents("py_article", [{"id": "b", "title": "A walk uphill"}])
        client.change_document("py_article", "b", {"year": 2024})
        self.assertEqual(client.document("py_article", "b")["year"], 2024)
        self.assertEqual(client.search("py_article", "harbour")[0]["id"], "a")
        client.delete_document("py_article", "b")
        with self.assertRaises(NotFoundError):
            client.document("py_article", "b")
        vector = client.embed("A boat")
        self.assertEqual(len(vector), len(client.embed_many(["A boat", "A hill"])[1]))
        self.assertIn(client.verify("Ann is in Paris.", ["Ann is in Paris."])["verdict"], ("TRUTH", "UNVERIFIED_PLAUSIBLE"))
        self.assertTrue(client.chat("Hello", max_tokens=8)["content"])
        session = client.begin_chat(collections=["py_article"])
        self.assertTrue("".join(client.chat_stream("What is in the harbour?", session)))

    def test_rows_in_bulk(self) -> None:
        self.client.sql("DROP TABLE IF EXISTS py_goods")
        self.assertEqual(self.client.import_csv("py_goods", b"id,name\n1,Cup\n2,Pot\n"), 2)
        self.assertEqual(self.client.export_csv(sql="SELECT name FROM py_goods ORDER BY id"), b"name\nCup\nPot\n")


class AsyncClientTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_same_with_asyncio(self) -> None:
        async with AsyncClient(URL) as client:
            await client.sql("DROP TABLE IF EXISTS py_async")
            await client.sql("CREATE TABLE py_async (id int PRIMARY KEY, n int)")
            await client.sql("INSERT INTO py_async VALUES (1, 0)")
            results = await asyncio.gather(*(client.sql("SELECT $1::int AS i", i) for i in range(30)))
            self.assertEqual([rows.scalar() for rows in results], list(range(30)))

            async def work(tx):
                n = (await tx.sql("SELECT n FROM py_async WHERE id = 1")).scalar()
                await tx.sql("UPDATE py_async SET n = $1 WHERE id = 1", n + 1)

            await asyncio.gather(*(client.tx(work, attempts=100) for _ in range(8)))
            self.assertEqual((await client.sql("SELECT n FROM py_async")).scalar(), 8)
            with self.assertRaises(RuntimeError):
                async with client.transaction() as tx:
                    await tx.sql("UPDATE py_async SET n = -1")
                    raise RuntimeError("no")
            self.assertEqual((await client.sql("SELECT n FROM py_async")).scalar(), 8)
            with self.assertRaises(ConstraintError):
                await client.sql("INSERT INTO py_async VALUES (1, 1)")
            self.assertTrue("".join([piece async for piece in client.chat_stream("Hello", max_tokens=8)]))
            slow = asyncio.create_task(client.sql("SELECT count(*) FROM generate_series(1, 1000000000)"))
            await asyncio.sleep(0.1)
            slow.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await slow
            self.assertEqual((await client.sql("SELECT 5")).scalar(), 5)


if __name__ == "__main__":
    unittest.main()
