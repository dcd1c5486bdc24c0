"""psycopg 3: prepared statements, binary results, COPY by rows, pipelines, nested transactions."""
import datetime
import decimal
import uuid

import psycopg
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb
from psycopg.types.range import Range
from steps import equal, fails, step

connection = psycopg.connect("")
UTC = datetime.timezone.utc
TYPES = {
    "int2": -7,
    "int4": 2**31 - 1,
    "int8": -(2**63),
    "float8": 1.5,
    "numeric": decimal.Decimal("12345678901234567890.123"),
    "bool": True,
    "text": "é\t'\\",
    "varchar": "v",
    "bytea": b"\x00\xff",
    "uuid": uuid.UUID("12345678-1234-5678-1234-567812345678"),
    "date": datetime.date(2024, 2, 29),
    "time": datetime.time(1, 2, 3, 456789),
    "timestamp": datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    "timestamptz": datetime.datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "interval": datetime.timedelta(days=3, microseconds=5),
    "int4[]": [1, None, 3],
    "text[]": ["a", 'b "c"', None],
    "int4range": Range(1, 9),
}


def types():
    for binary in (False, True):
        for parameter in ("%t", "%b"):
            for name, value in TYPES.items():
                row = connection.execute(f"SELECT {parameter}::{name}", (value,), binary=binary).fetchone()
                assert row[0] == value, f"{name}, binary {binary}, {parameter}: {row[0]!r} where {value!r} was expected"
    equal(connection.execute("SELECT %s", (Jsonb({"a": [1]}),)).fetchone(), ({"a": [1]},))
    connection.commit()


def create():
    connection.execute("CREATE TABLE rows (id int PRIMARY KEY, name text, at timestamptz, price numeric)")
    connection.commit()


def prepared():
    for n in range(12):
        equal(connection.execute("SELECT %s + 1", (n,)).fetchone(), (n + 1,))
    equal(connection.execute("SELECT %s::text", ("x",), prepare=True).fetchone(), ("x",))
    equal(connection.execute("SELECT count(*) > 0 FROM pg_prepared_statements").fetchone(), (True,))
    connection.commit()


def copy():
    at = datetime.datetime(2024, 1, 1, tzinfo=UTC)
    with connection.cursor() as cursor:
        for format, first in (("text", 0), ("binary", 1000)):
            with cursor.copy(f"COPY rows FROM STDIN (FORMAT {format})") as copy:
                copy.set_types(["int4", "text", "timestamptz", "numeric"])
                for n in range(first, first + 300):
                    copy.write_row((n, f"name\t{n}", at, None if n % 2 else decimal.Decimal("1.23")))
        for format in ("text", "binary"):
            with cursor.copy(f"COPY (SELECT * FROM rows ORDER BY id) TO STDOUT (FORMAT {format})") as copy:
                copy.set_types(["int4", "text", "timestamptz", "numeric"])
                rows = list(copy.rows())
            equal((len(rows), rows[0], rows[-1][3]), (600, (0, "name\t0", at, decimal.Decimal("1.23")), None))
    connection.commit()


def copy_error():
    def write():
        with connection.cursor().copy("COPY rows (id) FROM STDIN") as copy:
            copy.write("1\nnot a number\n")

    error = fails(write, "22P02")
    assert "COPY rows, line 2" in (error.diag.context or ""), error.diag.context
    connection.rollback()


def pipeline():
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int", (n,)) for n in range(50)]
        equal([cursor.fetchone()[0] for cursor in cursors], list(range(50)))
    connection.commit()

    def failing():
        with connection.pipeline() as pipe:
            connection.execute("SELECT 1/0")
            connection.execute("SELECT 1")
            pipe.sync()

    fails(failing, "22012")
    connection.rollback()


def transactions():
    with connection.transaction():
        connection.execute("INSERT INTO rows (id) VALUES (5000)")
        try:
            with connection.transaction():
                connection.execute("INSERT INTO rows (id) VALUES (5001)")
                connection.execute("INSERT INTO rows (id) VALUES (5000)")
        except psycopg.errors.UniqueViolation as error:
            equal((error.diag.schema_name, error.diag.table_name, error.diag.constraint_name), ("public", "rows", "rows_pkey"))
    equal(connection.execute("SELECT count(*) FROM rows WHERE id >= 5000").fetchone(), (1,))
    connection.commit()


def cursors():
    with connection.cursor("named", scrollable=True) as named:
        named.execute("SELECT id FROM rows ORDER BY id")
        equal(len(named.fetchmany(10)), 10)
        named.scroll(-5)
        equal(named.fetchone(), (5,))
    with psycopg.ClientCursor(connection) as cursor:
        equal(cursor.execute("SELECT %s, %s", ("it's", None)).fetchone(), ("it's", None))
    with connection.cursor(row_factory=dict_row) as cursor:
        equal(cursor.execute("SELECT 1 AS one").fetchone(), {"one": 1})
    connection.commit()


def many():
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO rows (id, name) VALUES (%s, %s) RETURNING id", [(n, "m") for n in range(6000, 6100)], returning=True)
        equal((cursor.fetchone(), cursor.nextset(), cursor.fetchone()), ((6000,), True, (6001,)))
    connection.commit()


def composite():
    from psycopg.types.composite import CompositeInfo, register_composite
    from psycopg.types.enum import EnumInfo, register_enum
    import enum

    connection.execute("CREATE TYPE pair AS (a int, b text)")
    connection.execute("CREATE TYPE colour AS ENUM ('RED', 'BLUE')")
    info = CompositeInfo.fetch(connection, "pair")
    register_composite(info, connection)
    equal(tuple(connection.execute("SELECT '(1,x)'::pair").fetchone()[0]), (1, "x"))
    register_enum(EnumInfo.fetch(connection, "colour"), connection)
    equal(connection.execute("SELECT 'RED'::colour").fetchone()[0].name, "RED")
    connection.commit()


def notices():
    seen = []
    connection.add_notice_handler(lambda diagnostics: seen.append((diagnostics.severity_nonlocalized, diagnostics.message_primary)))
    connection.execute("DO $$ BEGIN RAISE WARNING 'look: %', 7; END $$")
    equal(seen, [("WARNING", "look: 7")])
    connection.commit()


step("connect and create a table", create)
step(f"{len(TYPES)} types as parameters and results, text and binary", types)
step("statements that become prepared", prepared)
step("COPY by rows, text and binary, both ways", copy)
step("an error in COPY names the line", copy_error)
step("a pipeline of 50 statements, and one that fails", pipeline)
step("nested transactions", transactions)
step("named and client-side cursors, row factories", cursors)
step("executemany with RETURNING", many)
step("composite types and enums from the catalog", composite)
step("notices", notices)
connection.close()
