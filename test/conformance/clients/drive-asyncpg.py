"""asyncpg: introspected types, binary values only, cursors, COPY by records, a pool."""
import asyncio
import datetime
import decimal
import json
import uuid

import asyncpg
from steps import equal

UTC = datetime.timezone.utc


async def step(what, action):
    try:
        await asyncio.wait_for(action(), 20)
        print(f"ok - {what}", flush=True)
    except Exception as error:
        print(f"not ok - {what} # {' '.join(f'{type(error).__name__} {error}'.split())}", flush=True)


async def main():
    connection = await asyncpg.connect()

    async def create():
        equal(await connection.execute("CREATE TABLE users (id serial PRIMARY KEY, name text UNIQUE, dob date)"), "CREATE TABLE")
        equal(await connection.execute("INSERT INTO users (name, dob) VALUES ($1, $2)", "Bob", datetime.date(1984, 3, 1)), "INSERT 0 1")
        row = await connection.fetchrow("SELECT * FROM users WHERE name = $1", "Bob")
        equal(dict(row), {"id": 1, "name": "Bob", "dob": datetime.date(1984, 3, 1)})

    async def types():
        values = {
            "int2": -7, "int4": 1, "int8": 2**62, "float4": 1.5, "float8": -1e300, "numeric": decimal.Decimal("0.00012"),
            "bool": False, "text": "é", "bytea": b"\x00\xff", "uuid": uuid.uuid4(), "date": datetime.date(1, 1, 1),
            "time": datetime.time(23, 59, 59, 999999), "timetz": datetime.time(1, 2, tzinfo=UTC),
            "timestamp": datetime.datetime(2024, 2, 29, 1, 2, 3, 4), "timestamptz": datetime.datetime(1900, 1, 1, tzinfo=UTC),
            "interval": datetime.timedelta(days=400, seconds=1), "int4[]": [1, None], "text[]": [["a", "b"], ["c", None]],
            "json": '{"a": 1}', "jsonb": '{"a": 1}', "int4range": asyncpg.Range(1, 5), "point": asyncpg.Point(1, 2),
            "box": asyncpg.Box((3, 4), (1, 2)), "bit varying": asyncpg.BitString("1011"), "name": "n", "oid": 4294967295,
        }  # fmt: skip
        for name, value in values.items():
            found = await connection.fetchval(f"SELECT $1::{name}", value)
            assert found == value, f"{name}: {found!r} where {value!r} was expected"

    async def codecs():
        await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        equal(await connection.fetchval("SELECT $1::jsonb", {"a": [1]}), {"a": [1]})
        await connection.execute("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TYPE pair AS (a int, b mood[])")
        await connection.execute("CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
        equal(await connection.fetchval("SELECT $1::mood", "happy"), "happy")
        equal(tuple(await connection.fetchval("SELECT $1::pair", (1, ["sad", None]))), (1, ["sad", None]))
        equal(await connection.fetchval("SELECT array[row(1, '{sad}')::pair]"), [(1, ["sad"])])
        equal(await connection.fetchval("SELECT $1::positive", 5), 5)

    async def transactions():
        async with connection.transaction():
            await connection.execute("INSERT INTO users (name) VALUES ('kept')")
            try:
                async with connection.transaction():
                    await connection.execute("INSERT INTO users (name) VALUES ('lost')")
                    await connection.execute("INSERT INTO users (name) VALUES ('Bob')")
            except asyncpg.UniqueViolationError as error:
                equal((error.sqlstate, error.schema_name, error.constraint_name), ("23505", "public", "users_name_key"))
        equal(await connection.fetchval("SELECT count(*) FROM users WHERE name IN ('kept', 'lost')"), 1)
        async with connection.transaction(isolation="serializable", readonly=True, deferrable=True):
            await connection.fetchval("SELECT 1")

    async def cursors():
        async with connection.transaction():
            seen = [record[0] async for record in connection.cursor("SELECT g FROM generate_series(1, 100) g", prefetch=9)]
            equal(seen, list(range(1, 101)))
            cursor = await connection.cursor("SELECT g FROM generate_series(1, 100) g")
            await cursor.forward(10)
            equal([record[0] for record in await cursor.fetch(3)], [11, 12, 13])

    async def copies():
        await connection.execute("CREATE TABLE copied (a int, b text, c numeric)")
        rows = [(n, f"row {n}", decimal.Decimal(n) / 4) for n in range(1000)]
        equal(await connection.copy_records_to_table("copied", records=rows), "COPY 1000")
        with open("/dev/null", "wb") as nothing:
            equal(await connection.copy_from_table("copied", output=nothing, format="csv", header=True), "COPY 1000")
            equal(await connection.copy_from_query("SELECT * FROM copied WHERE a < $1", 10, output=nothing), "COPY 10")

    async def prepared():
        statement = await connection.prepare("SELECT id, name FROM users WHERE id = $1")
        equal([attribute.name for attribute in statement.get_attributes()], ["id", "name"])
        equal([parameter.name for parameter in statement.get_parameters()], ["int4"])
        equal(await statement.fetchval(1, column=1), "Bob")
        await connection.executemany("INSERT INTO users (name) VALUES ($1)", [(f"many {n}",) for n in range(200)])
        # Its statements are prepared again after the table has changed.
        await connection.execute("ALTER TABLE users ADD COLUMN more int")
        equal(len(await connection.fetchrow("SELECT * FROM users WHERE id = $1", 1)), 4)

    async def pool():
        async with asyncpg.create_pool(min_size=2, max_size=5, command_timeout=10) as pool:
            equal(await asyncio.gather(*(pool.fetchval("SELECT $1::int", n) for n in range(40))), list(range(40)))

    async def cancelled():
        slow = "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c"
        try:
            await connection.fetch(slow, timeout=0.3)
            raise AssertionError("no time-out")
        except asyncio.TimeoutError:
            equal(await connection.fetchval("SELECT 1"), 1)

    async def logs():
        seen = []
        connection.add_log_listener(lambda _, message: seen.append(message.message))
        await connection.execute("DROP TABLE IF EXISTS nothing")
        await asyncio.sleep(0)
        equal(seen, ['table "nothing" does not exist, skipping'])
        await connection.reset()

    await step("create, insert, read", create)
    await step("26 types in binary, both ways", types)
    await step("codecs, enums, composites, domains", codecs)
    await step("transactions in transactions", transactions)
    await step("cursors", cursors)
    await step("COPY of records, to CSV, of a query", copies)
    await step("prepared statements, also after ALTER TABLE", prepared)
    await step("a pool of 5 for 40 statements", pool)
    await step("a time-out cancels the statement", cancelled)
    await step("notices, reset", logs)
    await connection.close()


asyncio.run(main())
