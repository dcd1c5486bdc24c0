/** Hints for misspelt names of tables, columns, functions and types, and for texts in double quotes. */
import t from "tap";
import { nearestName } from "../../src/protocol/nearest-name.js";
import { open } from "../conformance/sql-adapter.js";

t.test("the nearest name", async (t) => {
  const known = ["customer", "customers", "order_line", "id", "Region"];
  for (const [unknown, name] of [
    ["custmer", "customer"],
    ["cusotmers", "customers"],
    ["CUSTOMER", "customer"],
    ["order_lin", "order_line"],
    ["region", "Region"],
    ["di", "id"],
    ["x", null],
    ["zz", null],
    ["invoice", null],
    ["", null],
    ["a".repeat(1000), null],
  ] as const) {
    t.equal(nearestName(unknown, known), name, unknown);
  }
});

t.test("hints", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of [
    'create table customer (id int primary key, name text, "Region" text)',
    "create schema shop",
    "create table shop.parcel (id int primary key)",
    "create view premium as select * from customer",
    "create function shout (t text) returns text language sql as 'select upper(t)'",
  ]) {
    await database.exec(sql);
  }
  const text = (value: string) => `Double quotes are for names. Write a string as '${value}'.`;
  for (const [sql, hint] of [
    ["select * from custmer", "Did you mean customer?"],
    ["select * from premum", "Did you mean premium?"],
    ["select * from parcel", "Did you mean shop.parcel?"],
    ["select * from shop.parcels", "Did you mean shop.parcel?"],
    ["select * from information_schema.colums", "Did you mean information_schema.columns?"],
    ["select * from pg_catalog.pg_clas", "Did you mean pg_catalog.pg_class?"],
    ["select * from pg_tabels", "Did you mean pg_tables?"],
    ["with totals as (select 1) select * from total", "Did you mean totals?"],
    ["select * from nothing_like_it", undefined],
    ["drop table custmer", "Did you mean customer?"],
    ["truncate costumer", "Did you mean customer?"],
    ["insert into customers values (1)", "Did you mean customer?"],
    ["select nmae from customer", "Did you mean name?"],
    ["select region from customer", 'Perhaps you meant to reference the column "customer.Region".'],
    ["select c.nam from customer c", "Did you mean name?"],
    ["select customr.name from customer", "Did you mean customer?"],
    ["insert into customer (id, nam) values (1, 'a')", "Did you mean name?"],
    ["update customer set nme = 'a'", "Did you mean name?"],
    ["create index on customer (nam)", "Did you mean name?"],
    ["alter table customer drop column nme", "Did you mean name?"],
    ["alter table customer rename column nme to n", "Did you mean name?"],
    ["create table o (id int, c int references customer (idd))", "Did you mean id?"],
    ["select uper(name) from customer", "Did you mean upper?"],
    ["select cout(*) from customer", "Did you mean count?"],
    ["select * from generate_serie(1, 2)", "Did you mean generate_series?"],
    ["select shoot('a')", "Did you mean shout?"],
    ["create table o (id intger)", "Did you mean integer?"],
    ["select '1'::numric", "Did you mean numeric?"],
    ['select * from customer where name = "Ann"', text("Ann")],
    ['select * from customer where name = "it\'s"', text("it''s")],
    ['select * from customer where name = "naem"', `Did you mean name? ${text("naem")}`],
    ['insert into customer values (1, "Ann")', text("Ann")],
    ['select "c"."name" from customer', undefined],
    ["select nothing_like_it from customer", undefined],
  ] as const) {
    const error = await database.exec(sql).then(
      () => null,
      (error: Error & { hint?: string }) => error,
    );
    t.not(error, null, sql);
    t.equal(error?.hint, hint, `${sql}: ${error?.message}`);
  }
});
