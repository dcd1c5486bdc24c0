"""SQLAlchemy: Core, the ORM and its inspector; Alembic: migrations, and the differences that it finds."""
import datetime
import decimal
import os
import tempfile
import uuid

import alembic.command
import alembic.config
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session, declarative_base, relationship, selectinload
from steps import equal, step

URL = os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg2://")
engine = sa.create_engine(URL, future=True)
Base = declarative_base()


class User(Base):
    __tablename__ = "user_account"
    __table_args__ = {"comment": "people"}
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(30), nullable=False, index=True)
    fullname = sa.Column(sa.String, comment="as in passports")
    created = sa.Column(sa.DateTime(timezone=True), server_default=sa.func.now())
    addresses = relationship("Address", back_populates="user", cascade="all, delete-orphan")


class Address(Base):
    __tablename__ = "address"
    __table_args__ = (
        sa.UniqueConstraint("email", name="address_email"),
        sa.CheckConstraint("length(email) > 3", name="address_long"),
        sa.Index("address_kind", "kind", postgresql_where=sa.text("kind <> 'work'")),
    )
    id = sa.Column(sa.BigInteger, primary_key=True)
    email = sa.Column(sa.String, nullable=False)
    kind = sa.Column(sa.Enum("home", "work", name="address_kinds"), server_default="home")
    price = sa.Column(sa.Numeric(10, 2))
    data = sa.Column(postgresql.JSONB)
    tags = sa.Column(postgresql.ARRAY(sa.String))
    key = sa.Column(postgresql.UUID(as_uuid=True), default=uuid.uuid4)
    bits = sa.Column(sa.LargeBinary)
    took = sa.Column(sa.Interval)
    user_id = sa.Column(sa.ForeignKey("user_account.id", ondelete="CASCADE"), nullable=False)
    user = relationship("User", back_populates="addresses")


def create():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)  # Asks what is there, and makes nothing.


def orm():
    with Session(engine) as session:
        mine = Address(
            email="s@example.org", kind="work", price=decimal.Decimal("1.50"), data={"a": [1]}, tags=["x", "y"],
            bits=b"\x00\xff", took=datetime.timedelta(hours=5),
        )  # fmt: skip
        session.add_all([User(name="sandy", addresses=[mine]), User(name="patrick")])
        session.commit()
        user = session.scalars(sa.select(User).options(selectinload(User.addresses)).where(User.name == "sandy")).one()
        address = user.addresses[0]
        equal((address.price, address.data, address.tags, address.bits), (decimal.Decimal("1.50"), {"a": [1]}, ["x", "y"], b"\x00\xff"))
        equal(address.took, datetime.timedelta(hours=5))
        query = sa.select(Address).where(Address.data["a"][0].as_integer() == 1, Address.tags.contains(["x"]), Address.kind == "work")
        equal(session.scalars(query).one().id, address.id)
        user.fullname = "Sandy Cheeks"
        session.commit()
        session.delete(user)
        session.commit()
        equal(session.scalar(sa.select(sa.func.count()).select_from(Address)), 0)


def core():
    users = User.__table__
    with engine.begin() as connection:
        result = connection.execute(sa.insert(users).returning(users.c.id), [{"name": "a"}])
        equal(len(result.all()), 1)
        connection.execute(sa.insert(users), [{"name": f"n{n}"} for n in range(100)])
        upsert = postgresql.insert(users).values(id=1, name="again")
        connection.execute(upsert.on_conflict_do_update(index_elements=["id"], set_={"name": upsert.excluded.name}))
        rank = sa.func.row_number().over(order_by=users.c.name)
        equal(len(connection.execute(sa.select(users.c.name, rank).limit(10)).all()), 10)
        streamed = connection.execution_options(stream_results=True, max_row_buffer=10).execute(sa.select(users))
        equal(len(streamed.all()) > 100, True)


def nested():
    with Session(engine) as session, session.begin():
        session.add(User(id=9000, name="outer"))
        session.flush()
        try:
            with session.begin_nested():
                session.execute(sa.insert(User).values(id=9000, name="inner"))
        except sa.exc.IntegrityError as error:
            equal((error.orig.pgcode, error.orig.diag.constraint_name), ("23505", "user_account_pkey"))
        equal(session.get(User, 9000).name, "outer")


def inspector():
    found = sa.inspect(engine)
    equal(sorted(found.get_table_names()), ["address", "user_account"])
    equal(found.get_schema_names(), ["information_schema", "public"])
    columns = {column["name"]: column for column in found.get_columns("address")}
    equal(str(columns["price"]["type"]), "NUMERIC(10, 2)")
    equal(columns["kind"]["type"].enums, ["home", "work"])
    equal(isinstance(columns["tags"]["type"], postgresql.ARRAY), True)
    equal({column["name"]: column.get("comment") for column in found.get_columns("user_account")}["fullname"], "as in passports")
    equal(found.get_pk_constraint("address"), {"constrained_columns": ["id"], "name": "address_pkey"})
    key = found.get_foreign_keys("address")[0]
    equal((key["referred_table"], key["referred_columns"], key["options"]), ("user_account", ["id"], {"ondelete": "CASCADE"}))
    equal([unique["name"] for unique in found.get_unique_constraints("address")], ["address_email"])
    equal([check["name"] for check in found.get_check_constraints("address")], ["address_long"])
    indexes = {index["name"]: index for index in found.get_indexes("address")}
    equal(sorted(indexes), ["address_email", "address_kind"])
    assert "postgresql_where" in indexes["address_kind"]["dialect_options"]
    equal(found.get_table_comment("user_account"), {"text": "people"})
    equal([enum["name"] for enum in found.get_enums()], ["address_kinds"])
    equal(found.get_view_names(), [])
    equal(sorted(found.get_sequence_names()), ["address_id_seq", "user_account_id_seq"])


def reflection():
    metadata = sa.MetaData()
    metadata.reflect(engine)
    equal(sorted(metadata.tables), ["address", "user_account"])
    with engine.connect() as connection:
        equal(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), Base.metadata), [])


ENV = """
from alembic import context
import sqlalchemy as sa
engine = sa.create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=context.config.attributes["metadata"], compare_type=True, version_table="versions")
    with context.begin_transaction():
        context.run_migrations()
"""


def alembic_run():
    folder = tempfile.mkdtemp()
    config = alembic.config.Config(stdout=open(os.devnull, "w"))
    config.set_main_option("script_location", f"{folder}/migrations")
    config.set_main_option("sqlalchemy.url", URL)
    metadata = sa.MetaData()
    config.attributes["metadata"] = metadata
    for table in Base.metadata.tables.values():
        table.to_metadata(metadata)
    import contextlib

    with contextlib.redirect_stdout(config.stdout):
        config.config_file_name = f"{folder}/alembic.ini"
        alembic.command.init(config, f"{folder}/migrations")
        with open(f"{folder}/migrations/env.py", "w") as file:
            file.write(ENV)
        config.config_file_name = None
        sa.Table("planets", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(20), nullable=False))
        alembic.command.revision(config, "planets", autogenerate=True)
        alembic.command.upgrade(config, "head")
        table = metadata.tables["planets"]
        metadata.remove(table)
        sa.Table(
            "planets", metadata, sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("name", sa.String(80), index=True),
            sa.Column("mass", sa.Float, server_default="1"),
        )  # fmt: skip
        alembic.command.revision(config, "wider", autogenerate=True)
        alembic.command.upgrade(config, "head")
        found = {column["name"]: str(column["type"]) for column in sa.inspect(engine).get_columns("planets")}
        equal(found, {"id": "BIGINT", "name": "VARCHAR(80)", "mass": "DOUBLE_PRECISION"})
        alembic.command.downgrade(config, "base")
    equal(sa.inspect(engine).has_table("planets"), False)


def drop():
    Base.metadata.drop_all(engine)
    equal(sa.inspect(engine).get_table_names(), ["versions"])


step("create_all, twice", create)
step("ORM: relations, enum, JSONB, arrays, UUID, intervals", orm)
step("Core: RETURNING, many rows, upsert, windows, streamed rows", core)
step("begin_nested with an error", nested)
step("the inspector: columns, keys, checks, indexes, comments, enums", inspector)
step("reflect; Alembic finds no difference", reflection)
step("Alembic: two revisions of autogenerate, upgrade, downgrade", alembic_run)
step("drop_all", drop)
