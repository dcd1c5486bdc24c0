"""psycopg2: adapted values, server-side cursors, COPY, execute_values, errors by class."""
import datetime
import decimal
import io
import uuid

import psycopg2
import psycopg2.errorcodes
import psycopg2.errors
import psycopg2.extras
from steps import equal, fails, step

connection = psycopg2.connect("")
cursor = connection.cursor()
UTC = datetime.timezone.utc
VALUES = (
    "héllo 'quoted'",
    decimal.Decimal("1234.50"),
    datetime.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC),
    datetime.date(2024, 2, 29),
    b"\x00\xff'\\",
    [1, None, 3],
    datetime.timedelta(days=1, seconds=7),
)


def create():
    cursor.execute(
        "CREATE TABLE things (id serial PRIMARY KEY, a text UNIQUE, b numeric, c timestamptz, d date, e bytea, f int[], "
        "g interval, h jsonb, i uuid, j bool DEFAULT true, k float8)"
    )
    connection.commit()


def values():
    psycopg2.extras.register_uuid()
    key, data = uuid.uuid4(), {"k": [1, None, "x"]}
    cursor.execute(
        "INSERT INTO things (a, b, c, d, e, f, g, h, i, k) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
        (*VALUES, psycopg2.extras.Json(data), key, 1.5e300),
    )
    equal(cursor.fetchone(), (1,))
    cursor.execute("SELECT a, b, c, d, e, f, g, h, i, j, k FROM things")
    row = cursor.fetchone()
    equal((*row[:4], bytes(row[4]), *row[5:]), (*VALUES, data, key, True, 1.5e300))
    equal([column.name for column in cursor.description][:3], ["a", "b", "c"])
    connection.commit()


def transaction():
    with connection:
        cursor.execute("INSERT INTO things (a) VALUES ('kept')")
    try:
        with connection:
            cursor.execute("INSERT INTO things (a) VALUES ('lost')")
            raise KeyError
    except KeyError:
        pass
    cursor.execute("SELECT count(*) FROM things WHERE a IN ('kept', 'lost')")
    equal(cursor.fetchone(), (1,))
    connection.commit()


def errors():
    error = fails(lambda: cursor.execute("INSERT INTO things (a) VALUES ('kept')"), psycopg2.errorcodes.UNIQUE_VIOLATION)
    assert isinstance(error, psycopg2.errors.UniqueViolation)
    diagnostics = error.diag
    equal((diagnostics.schema_name, diagnostics.table_name), ("public", "things"))
    equal((diagnostics.constraint_name, diagnostics.message_detail), ("things_a_key", "Key (a)=(kept) already exists."))
    fails(lambda: cursor.execute("SELECT 1"), psycopg2.errorcodes.IN_FAILED_SQL_TRANSACTION)
    connection.rollback()
    error = fails(lambda: cursor.execute("SELECT 1 FROM nowhere"), psycopg2.errorcodes.UNDEFINED_TABLE)
    equal(error.diag.statement_position, "15")
    connection.rollback()


def server_side():
    with connection.cursor("named", scrollable=True) as named:
        named.itersize = 20
        named.execute("SELECT g FROM generate_series(1, 100) g")
        equal(len(list(named)), 100)
        named.scroll(0, mode="absolute")
        equal(named.fetchone(), (1,))
    with connection.cursor("held", withhold=True) as held:
        held.execute("SELECT g FROM generate_series(1, 10) g")
        connection.commit()
        equal(len(held.fetchmany(4)), 4)
    connection.commit()


def copy():
    cursor.copy_from(io.StringIO("copied\t1.5\nother\t\\N\n"), "things", columns=("a", "b"))
    out = io.StringIO()
    cursor.copy_expert("COPY (SELECT a, b FROM things WHERE a IN ('copied', 'other') ORDER BY a) TO STDOUT WITH CSV HEADER", out)
    equal(out.getvalue(), "a,b\ncopied,1.5\nother,\n")
    connection.commit()


def batches():
    rows = [(f"row {n}", n) for n in range(500)]
    psycopg2.extras.execute_values(cursor, "INSERT INTO things (a, b) VALUES %s", rows)
    psycopg2.extras.execute_batch(cursor, "UPDATE things SET b = b + 1 WHERE a = %s", [(name,) for name, _ in rows[:100]])
    cursor.execute("SELECT sum(b) FROM things WHERE a LIKE 'row %%'" % ())
    equal(cursor.fetchone(), (decimal.Decimal(sum(range(500)) + 100),))
    connection.commit()


def rows_by_name():
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as named:
        named.execute("SELECT id, a FROM things WHERE id = 1")
        equal(dict(named.fetchone()), {"id": 1, "a": VALUES[0]})
    psycopg2.extras.register_composite("things", connection)
    connection.commit()


def ranges():
    cursor.execute("SELECT int4range(1, 5), %s", (psycopg2.extras.NumericRange(2, 4),))
    equal(cursor.fetchone()[0], psycopg2.extras.NumericRange(1, 5))
    connection.commit()


def session():
    connection.set_session(isolation_level="SERIALIZABLE", readonly=True)
    fails(lambda: cursor.execute("DELETE FROM things"), psycopg2.errorcodes.READ_ONLY_SQL_TRANSACTION)
    connection.rollback()
    connection.set_session(isolation_level="DEFAULT", readonly=False, autocommit=True)
    cursor.execute("SHOW transaction_isolation")
    equal(cursor.fetchone()[0] in ("read committed", "repeatable read", "serializable"), True)
    assert connection.server_version >= 150000
    connection.set_client_encoding("UTF8")


def cancel():
    import threading

    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    fails(lambda: cursor.execute("SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c"), "57014")
    timer.join()


step("connect and create a table", create)
step("insert and read values of eleven types", values)
step("a transaction as a block, kept and undone", transaction)
step("errors by class, with every diagnostic", errors)
step("named cursors: scrolling, WITH HOLD", server_side)
step("COPY in and out", copy)
step("execute_values, execute_batch", batches)
step("rows as dictionaries, register_composite", rows_by_name)
step("ranges", ranges)
step("isolation level, read only, autocommit", session)
step("cancel from another thread", cancel)
connection.close()
