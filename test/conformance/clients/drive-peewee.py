"""Peewee: models, its extension for PostgreSQL, transactions, migrations, introspection."""
import datetime
import os

import peewee
from peewee import JOIN, fn
from playhouse.migrate import PostgresqlMigrator, migrate
from playhouse.postgres_ext import ArrayField, BinaryJSONField, PostgresqlExtDatabase, ServerSide
from playhouse.reflection import Introspector
from steps import equal, step

E = os.environ
db = PostgresqlExtDatabase(
    E["PGDATABASE"], user=E["PGUSER"], password=E["PGPASSWORD"], host=E["PGHOST"], port=int(E["PGPORT"])
)


class Base(peewee.Model):
    class Meta:
        database = db


class Person(Base):
    name = peewee.CharField(unique=True)
    born = peewee.DateField(null=True)
    data = BinaryJSONField(default={})
    tags = ArrayField(peewee.TextField, default=list)


class Pet(Base):
    owner = peewee.ForeignKeyField(Person, backref="pets", on_delete="CASCADE")
    kind = peewee.CharField()
    price = peewee.DecimalField(max_digits=8, decimal_places=2, default=1)


def models():
    for _ in range(2):
        db.create_tables([Person, Pet], safe=True)
    person = Person.create(name="Bob", data={"a": {"b": 1}}, tags=["x", "y"])
    Pet.insert_many([{"owner": person, "kind": "cat"}, {"owner": person, "kind": "dog"}]).execute()
    equal([pet.kind for pet in person.pets.order_by(Pet.id)], ["cat", "dog"])
    equal(Person.select().where(Person.data["a"]["b"] == "1").count(), 1)
    equal(Person.select().where(Person.data.contains({"a": {"b": 1}})).count(), 1)
    equal(Person.select().where(Person.tags.contains("x")).count(), 1)
    counted = Person.select(Person, fn.COUNT(Pet.id).alias("n")).join(Pet, JOIN.LEFT_OUTER).group_by(Person)
    equal(counted.get().n, 2)
    day = datetime.date(2000, 1, 1)
    Person.insert(name="Bob").on_conflict(conflict_target=[Person.name], update={Person.born: day}).execute()
    equal(Person.get().born, day)


def transactions():
    try:
        with db.atomic():
            with db.atomic() as savepoint:
                Person.create(name="Ann")
                savepoint.rollback()
            equal(Person.select().count(), 1)
            Person.create(name="Bob")
    except peewee.IntegrityError as error:
        equal("person_name" in str(error), True)
    with db.atomic():
        equal([person.name for person in ServerSide(Person.select())], ["Bob"])


def migrations():
    migrator = PostgresqlMigrator(db)
    migrate(
        migrator.add_column("pet", "age", peewee.IntegerField(default=3)),
        migrator.drop_not_null("pet", "kind"),
        migrator.rename_column("pet", "kind", "sort"),
        migrator.add_index("pet", ("sort", "age"), True),
        migrator.alter_column_type("pet", "age", peewee.BigIntegerField()),
    )
    found = Introspector.from_database(db).generate_models()
    equal(sorted(found["pet"]._meta.fields), ["age", "id", "owner", "price", "sort"])
    equal(sorted(index.name for index in db.get_indexes("pet")), ["pet_owner_id", "pet_pkey", "pet_sort_age"])


step("models and queries", models)
step("transactions, savepoints, a cursor of the server's", transactions)
step("migrations and introspection", migrations)
