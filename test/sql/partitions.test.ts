import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

await loadParser();

t.test("bounds are checked against the key and against each other", async (t) => {
  await checkStatements(t, [
    ["create table t0 (a int)"],
    ["create table p0 partition of t0 for values in (1)", '42P17 "t0" is not partitioned'],
    ["create table l (a int) partition by list (a)"],
    ["create table h (a int) partition by hash (a)"],
    ["create table r (a int, b int) partition by range (a, b)"],
    ["create table x partition of h default", "42P16 a hash-partitioned table may not have a default partition"],
    ["create table x partition of h for values in (1)", "42P16 invalid bound specification for a hash partition"],
    [
      "create table x partition of h for values with (modulus 0, remainder 1)",
      "42P16 modulus for hash partition must be an integer value greater than zero",
    ],
    [
      "create table x partition of h for values with (modulus 2, remainder 2)",
      "42P16 remainder for hash partition must be less than modulus",
    ],
    ["create table h0 partition of h for values with (modulus 4, remainder 0)"],
    [
      "create table x partition of h for values with (modulus 6, remainder 1)",
      "42P17 every hash partition modulus must be a factor of the next larger modulus",
    ],
    [
      "create table x partition of h for values with (modulus 8, remainder 4)",
      '42P17 partition "x" would overlap partition "h0"',
    ],
    [
      "create table x partition of l for values in (a)",
      "0A000 cannot use column reference in partition bound expression",
    ],
    ["create table x partition of l for values in ((select 1))", "0A000 cannot use subquery in partition bound"],
    [
      "create table x partition of l for values in (sum(1))",
      "42803 aggregate functions are not allowed in partition bound",
    ],
    ["create table x partition of l for values in ('x')", '22P02 invalid input syntax for type integer: "x"'],
    [
      "create table x partition of l for values in ('2020-01-01'::date)",
      '42804 specified value cannot be cast to type integer for column "a"',
    ],
    ["create table l0 partition of l for values in (1, 2, 1 + 1, null)"],
    ["create table x partition of l for values in (null)", '42P17 partition "x" would overlap partition "l0"'],
    ["create table ld partition of l default"],
    ["create table x partition of l default", '42P17 partition "x" conflicts with existing default partition "ld"'],
    [
      "create table x partition of r for values from (1) to (2, 3)",
      "42P16 FROM must specify exactly one value per partitioning column",
    ],
    ["create table x partition of r for values from (1, null) to (2, 3)", "42P17 cannot specify NULL in range bound"],
    [
      "create table x partition of r for values from (minvalue, 1) to (2, 3)",
      "42804 every bound following MINVALUE must also be MINVALUE",
    ],
    [
      "create table x partition of r for values from (1, 1) to (1, minvalue)",
      '42P17 empty range bound specified for partition "x"',
    ],
    ["create table r0 partition of r for values from (1, 1) to (10, minvalue)"],
    [
      "create table x partition of r for values from (5, minvalue) to (10, minvalue)",
      '42P17 partition "x" would overlap partition "r0"',
    ],
  ]);
});

t.test("a partition key can be computed and compared", async (t) => {
  const key = (clause: string) => `create table x (a int, b int, c json) partition by ${clause}`;
  await checkStatements(t, [
    [key("list (a, b)"), '42P17 cannot use "list" partition strategy with more than one column'],
    [key("list (d)"), '42703 column "d" named in partition key does not exist'],
    [key("list (ctid)"), '42P17 cannot use system column "ctid" in partition key'],
    [key("list ((1))"), "42P17 cannot use constant expression as partition key"],
    [key("list ((random()))"), "42P17 functions in partition key expression must be marked IMMUTABLE"],
    [key("range (c)"), '42704 data type json has no default operator class for access method "btree"'],
    [
      "create table x (a int, b int unique) partition by list (a)",
      "0A000 unique constraint on partitioned table must include all partitioning columns",
    ],
    [
      "create table x (a int, b int primary key) partition by list ((b + 1))",
      "0A000 unsupported PRIMARY KEY constraint with partition key definition",
    ],
    [
      "create table x (a int, check (a > 1) no inherit) partition by list (a)",
      '42P16 cannot add NO INHERIT constraint to partitioned table "x"',
    ],
  ]);
});

t.test("rows go to their partitions, over levels and column orders", async (t) => {
  await checkStatements(t, [
    ["create table p (a int, b text not null, c numeric default 1.5) partition by range (a, lower(b))"],
    ["create table p1 (c numeric, gone int, b text not null, a int)"],
    ["alter table p1 drop gone"],
    ["alter table p attach partition p1 for values from (1, minvalue) to (10, 'm')"],
    ["create table p2 partition of p for values from (10, 'm') to (20, maxvalue) partition by list (b)"],
    ["create table p2x partition of p2 (check (c > 0)) for values in ('x', 'Y')"],
    [
      "insert into p values (1, 'A', default), (10, 'l', default), (10, 'x', 3), (20, 'Y', 4) returning *, tableoid::regclass::text",
      ["1|A|1.5|p1", "10|l|1.5|p1", "10|x|3|p2x", "20|Y|4|p2x"],
    ],
    ["select * from p1 order by a", ["1.5|A|1", "1.5|l|10"]],
    ["insert into p values (0, 'a')", '23514 no partition of relation "p" found for row'],
    ["insert into p values (null, 'a')", '23514 no partition of relation "p" found for row'],
    ["insert into p values (15, 'z')", '23514 no partition of relation "p2" found for row'],
    ["insert into p values (15, 'x', -1)", '23514 new row for relation "p2x" violates check constraint "p2x_c_check"'],
    ["insert into p2 values (1, 'x')", '23514 new row for relation "p2" violates partition constraint'],
    ["insert into p2x values (15, 'b')", '23514 new row for relation "p2x" violates partition constraint'],
    ["insert into p1 values (1, 'n', 9)"],
    ["insert into p1 values (1, 'n', 10)", '23514 new row for relation "p1" violates partition constraint'],
    ["select count(*), sum(c) from p", ["5|11.0"]],
  ]);
});

t.test("ON CONFLICT finds the row in its partition and cannot move it", async (t) => {
  await checkStatements(t, [
    ["create table k (a int, b int, c text, primary key (a, b)) partition by list (a)"],
    ["create table k1 partition of k for values in (1)"],
    ["create table k2 (b int not null, c text, a int not null, primary key (a, b))"],
    ["alter table k attach partition k2 for values in (2)"],
    ["insert into k values (1, 1, 'x'), (2, 1, 'y')"],
    ["insert into k values (2, 1, 'z')", '23505 duplicate key value violates unique constraint "k2_pkey"'],
    [
      "insert into k values (1, 1, 'p'), (2, 1, 'q') on conflict (a, b) do update set c = k.c || excluded.c returning *",
      ["1|1|xp", "2|1|yq"],
    ],
    ["insert into k values (2, 1, 'p') on conflict do nothing returning *", []],
    [
      "insert into k values (2, 1) on conflict (a, b) do update set a = 1, b = 2",
      "0A000 invalid ON UPDATE specification",
    ],
  ]);
});

t.test("UPDATE and MERGE move rows between partitions", async (t) => {
  await checkStatements(t, [
    ["create table k (a int, b int, c text default 'c', primary key (a, b)) partition by list (a)"],
    ["create table k1 partition of k for values in (1)"],
    ["create table k2 (b int not null, c text, a int not null, check (b < 100), primary key (a, b))"],
    ["alter table k attach partition k2 for values in (2)"],
    ["create table f (a int, b int, foreign key (a, b) references k on update cascade on delete cascade)"],
    ["insert into k values (1, 1), (1, 2), (2, 3)"],
    ["insert into f values (1, 1), (2, 3)"],
    ["update k set a = 2 where b = 1 returning *, tableoid::regclass::text", ["2|1|c|k2"]],
    ["select * from f order by 1, 2", ["2|1", "2|3"]],
    ["select tableoid::regclass::text, * from k order by b", ["k2|2|1|c", "k1|1|2|c", "k2|2|3|c"]],
    ["update k set a = 3 - a returning b, tableoid::regclass::text", ["2|k2", "1|k1", "3|k1"]],
    ["select * from f order by 1, 2", ["1|1", "1|3"]],
    ["update k set a = 3 where b = 1", '23514 no partition of relation "k" found for row'],
    ["update k1 set a = 2 where b = 1", '23514 new row for relation "k1" violates partition constraint'],
    [
      "update k set a = 2, b = 100 where b = 1",
      '23514 new row for relation "k2" violates check constraint "k2_b_check"',
    ],
    ["update k set a = 2, b = 2 where b = 1", '23505 duplicate key value violates unique constraint "k2_pkey"'],
    [
      "merge into k using (values (1, 1, 2), (1, 5, 2), (2, 2, 0), (1, 9, 1)) s (a, b, x) on k.a = s.a and k.b = s.b " +
        "when matched and x = 0 then delete when matched then update set a = x, c = 'moved' " +
        "when not matched then insert (a, b) values (x, s.b)",
    ],
    ["select tableoid::regclass::text, * from k order by b", ["k2|2|1|moved", "k1|1|3|c", "k2|2|5|c", "k1|1|9|c"]],
    ["delete from k where a = 2"],
    ["select * from k1 order by b", ["1|3|c", "1|9|c"]],
    ["truncate k cascade"],
    ["select count(*) from k", ["0"]],
  ]);
});

t.test("a table is attached when it fits, its rows too, and detached again", async (t) => {
  await checkStatements(t, [
    ["create table l (a int, b text, c int not null, constraint cc check (b <> '')) partition by list (a)"],
    ["create table l1 partition of l for values in (1)"],
    ["create table n (c int, a int, b text)"],
    ["alter table l attach partition n for values in (5)", '42804 column "c" in child table must be marked NOT NULL'],
    ["alter table n alter c set not null"],
    ["alter table l attach partition n for values in (5)", '42804 child table is missing constraint "cc"'],
    ["alter table n add constraint cc check (b <> '')"],
    ["alter table l attach partition n for values in (1)", '42P17 partition "n" would overlap partition "l1"'],
    ["insert into n values (1, 8, 'q')"],
    [
      "alter table l attach partition n for values in (5)",
      '23514 partition constraint of relation "n" is violated by some row',
    ],
    ["alter table l attach partition n default"],
    ["select * from l", ["8|q|1"]],
    [
      "create table l8 partition of l for values in (7, 8)",
      '23514 updated partition constraint for default partition "n" would be violated by some row',
    ],
    ["alter table l attach partition n for values in (9)", '42809 "n" is already a partition'],
    ["alter table l1 attach partition n for values in (9)", '42P17 table "l1" is not partitioned'],
    ["alter table l detach partition n"],
    ["alter table l detach partition n", '42P01 relation "n" is not a partition of relation "l"'],
    ["insert into n values (1, 100, 'free')"],
    ["select count(*) from l", ["0"]],
    ["drop table l"],
    ["select count(*) from n", ["2"]],
    ["select * from l1", '42P01 relation "l1" does not exist'],
  ]);
});

t.test("indexes and keys of the table are on all partitions", async (t) => {
  await checkStatements(t, [
    ["create table i (a int, b int) partition by list (a)"],
    ["create table i1 partition of i for values in (1)"],
    ["create table i2 (b int, a int)"],
    ["insert into i2 values (1, 2), (1, 2)"],
    ["create unique index i_key on i (a, b)"],
    ["alter table i attach partition i2 for values in (2)", '23505 could not create unique index "i2_a_b_idx"'],
    ["delete from i2"],
    ["create index mine on i2 (b)"],
    ["create index on i (b)"],
    ["alter table i attach partition i2 for values in (2)"],
    ["insert into i values (2, 1)"],
    ["insert into i values (2, 1)", '23505 duplicate key value violates unique constraint "i2_a_b_idx"'],
    ["select indexname from pg_indexes where tablename = 'i2' order by 1", ["i2_a_b_idx", "mine"]],
    ["select indexname from pg_indexes where tablename = 'i1' order by 1", ["i1_a_b_idx", "i1_b_idx"]],
  ]);
});

t.test("keys of partitions come and go with those of their table", async (t) => {
  const inherited = (name: string) => `42P16 cannot drop inherited constraint "${name}" of relation "c1"`;
  await checkStatements(t, [
    ["create table c (a int, b int) partition by list (a)"],
    ["create table c1 partition of c for values in (1)"],
    ["create table c2 partition of c for values in (2) partition by list (b)"],
    ["insert into c values (1, 1), (1, 2)"],
    ["alter table c add primary key (a, b)" /* c2's key is (b) */],
    ["insert into c values (1, 1)", '23505 duplicate key value violates unique constraint "c1_pkey"'],
    ["select * from c where a = 1 and b = 2", ["1|2"]],
    ["alter table c1 drop constraint c1_pkey", inherited("c1_pkey")],
    [
      "alter table c add unique (b)",
      "0A000 unique constraint on partitioned table must include all partitioning columns",
    ],
    [
      "alter table c drop column b",
      '42P16 cannot drop column "b" because it is part of the partition key of relation "c2"',
    ],
    [
      "alter table c alter b type text",
      '42P16 cannot alter column "b" because it is part of the partition key of relation "c2"',
    ],
    ["alter table c drop constraint c_pkey"],
    ["insert into c values (1, 1)"],
    ["create index ci on only c (b)"],
    ["create index c1i on c1 (b)"],
    ["create index c1j on c1 (a)"],
    ["alter index ci attach partition c1j", '42P17 cannot attach index "c1j" as a partition of index "ci"'],
    ["alter index ci attach partition c1i"],
    ["drop index c1i", "2BP01 cannot drop index c1i because index ci requires it"],
    ["drop index ci"],
    ["select indexname from pg_indexes where tablename like 'c_'", ["c1j"]],
  ]);
});

t.test("referenced rows do not leave with their partition", async (t) => {
  await checkStatements(t, [
    ["create table p (a int primary key) partition by list (a)"],
    ["create table p1 partition of p for values in (1)"],
    ["create table p2 partition of p for values in (2)"],
    ["create table f (a int references p)"],
    ["insert into p values (1), (2)"],
    ["insert into f values (1)"],
    ["alter table p detach partition p1", '23503 removing partition "p1" violates foreign key constraint "f_a_fkey"'],
    ["drop table p1", "2BP01 cannot drop table p1 because other objects depend on it"],
    ["delete from p1", '23503 update or delete on table "p1" violates foreign key constraint "f_a_fkey" on table "f"'],
    ["alter table p detach partition p2"],
    ["delete from p2"],
    ["insert into f values (2)", '23503 insert or update on table "f" violates foreign key constraint "f_a_fkey"'],
    ["truncate p1 cascade"],
    ["select count(*) from f", ["0"]],
  ]);
});

t.test("foreign keys of and to partitioned tables hold for all partitions", async (t) => {
  await checkStatements(t, [
    ["create table target (a int primary key) partition by range (a)"],
    ["create table target1 partition of target for values from (0) to (10)"],
    ["create table target2 partition of target for values from (10) to (20)"],
    ["create table f (a int references target on delete cascade, b int) partition by list (b)"],
    ["create table f1 partition of f for values in (1)"],
    ["create table f2 (b int, a int)"],
    ["insert into f2 values (2, 15)"],
    [
      "alter table f attach partition f2 for values in (2)",
      '23503 insert or update on table "f2" violates foreign key constraint "f_a_fkey"',
    ],
    ["insert into target values (5), (15), (16)"],
    ["alter table f attach partition f2 for values in (2)"],
    ["insert into f values (5, 1), (16, 2)"],
    ["insert into f values (6, 1)", '23503 insert or update on table "f1" violates foreign key constraint "f_a_fkey"'],
    ["insert into f2 values (2, 6)", '23503 insert or update on table "f2" violates foreign key constraint "f_a_fkey"'],
    ["select a from f order by a", ["5", "15", "16"]],
    ["alter table f drop constraint f_a_fkey"],
    ["insert into f values (6, 1)"],
  ]);
});

t.test("partitions that conditions rule out are not read", async (t) => {
  await checkStatements(t, [
    ["create table p (a int, b int) partition by range (a)"],
    ["create table p1 partition of p for values from (minvalue) to (10)"],
    ["create table p2 partition of p for values from (10) to (20) partition by list (b)"],
    ["create table p21 partition of p2 for values in (1, 2, null)"],
    ["create table p22 partition of p2 default"],
    ["create table p3 partition of p for values from (20) to (maxvalue)"],
    ["create table pd partition of p default"],
    ["insert into p select i, i % 4 from generate_series(1, 40) i"],
    ["insert into p values (null, 1), (15, null)"],
    [
      "explain (costs off) select * from p",
      [
        "Append on p",
        "  ->  Seq Scan on p1",
        "  ->  Seq Scan on p21",
        "  ->  Seq Scan on p22",
        "  ->  Seq Scan on p3",
        "  ->  Seq Scan on pd",
      ],
    ],
    [
      "explain (costs off) select * from p where a = 12",
      [
        "Append on p",
        "  ->  Seq Scan on p21",
        "        Filter: (p21.a = 12)",
        "  ->  Seq Scan on p22",
        "        Filter: (p22.a = 12)",
      ],
    ],
    [
      "explain (costs off) select * from p where a = 12 and b = 1",
      ["Project", "  Output: a, b", "  ->  Seq Scan on p21", "        Filter: ((a = 12) AND (b = 1))"],
    ],
    [
      "explain (costs off) select * from p where a in (1, 25)",
      [
        "Append on p",
        "  ->  Seq Scan on p1",
        "        Filter: (p1.a IN (1, 25))",
        "  ->  Seq Scan on p3",
        "        Filter: (p3.a IN (1, 25))",
      ],
    ],
    [
      "explain (costs off) select * from p where a is null",
      ["Project", "  Output: a, b", "  ->  Seq Scan on pd", "        Filter: (a IS NULL)"],
    ],
    ["explain (costs off) select * from p where a = 5 and a > 7", ["Append on p"]],
    ["prepare q as select count(*) from p where a = $1 and b >= $2"],
    ["execute q(12, 0)", ["1"]],
    ["execute q(null, 0)", ["0"]],
    ["execute q(25, 2)", ["0"]],
    ["select count(*) from p where a >= 10 and a < 20", ["11"]],
    ["select (select count(*) from p where p.a = x) from generate_series(0, 1) x", ["0", "1"]],
    ["select count(*), max(a) from p where a = 15 or a > 38", ["4|40"]],
    ["delete from p where a = 15 returning a, b, tableoid::regclass::text", ["15|∅|p21", "15|3|p22"]],
  ]);
});

t.test("pg_catalog tells of partitions as PostgreSQL does", async (t) => {
  await checkStatements(t, [
    ["create table bt (a text, b numeric, c date, e int, primary key (a, b, c, e)) partition by range (a, b, c, e)"],
    [
      "create table bt1 partition of bt for values from ('x', 1.5, '2020-01-01', minvalue) to ('y', maxvalue, maxvalue, maxvalue)",
    ],
    ["create table bl (a bool) partition by list (a)"],
    ["create table bl1 partition of bl for values in (true, null)"],
    ["create table bh (a int, b text) partition by hash (a, lower(b))"],
    ["create table bh1 partition of bh for values with (modulus 4, remainder 1)"],
    [
      "select relname, relkind, pg_get_partkeydef(oid) from pg_class where relname ~ '^b[tlh]$' order by 1",
      ["bh|p|HASH (a, lower(b))", "bl|p|LIST (a)", "bt|p|RANGE (a, b, c, e)"],
    ],
    [
      "select pg_get_expr(relpartbound, oid) from pg_class where relispartition and relkind = 'r' order by relname",
      [
        "FOR VALUES WITH (modulus 4, remainder 1)",
        "FOR VALUES IN (true, NULL)",
        "FOR VALUES FROM ('x', 1.5, '2020-01-01', MINVALUE) TO ('y', MAXVALUE, MAXVALUE, MAXVALUE)",
      ],
    ],
    [
      "select pg_get_partition_constraintdef('bt1'::regclass)",
      [
        "((a IS NOT NULL) AND (b IS NOT NULL) AND (c IS NOT NULL) AND (e IS NOT NULL) AND ((a > 'x'::text) OR ((a = 'x'::text) AND (b > 1.5)) OR ((a = 'x'::text) AND (b = 1.5) AND (c >= '2020-01-01'::date))) AND (a <= 'y'::text))",
      ],
    ],
    ["select * from pg_partition_tree('bt')", ["bt|∅|false|0", "bt1|bt|true|1"]],
    ["select * from pg_partition_ancestors('bt1')", ["bt1", "bt"]],
    ["select pg_partition_root('bt1')", ["bt"]],
    ["select inhrelid::regclass::text from pg_inherits where inhparent = 'bt_pkey'::regclass", ["bt1_pkey"]],
    ["create table bh2 as select i as a, 'x'::text as b from generate_series(1, 10) i"],
    [
      "alter table bh attach partition bh2 for values with (modulus 4, remainder 2)",
      '23514 partition constraint of relation "bh2" is violated by some row',
    ],
    ["delete from bh2 where not satisfies_hash_partition('bh'::regclass, 4, 2, a, lower(b))"],
    ["alter table bh attach partition bh2 for values with (modulus 4, remainder 2)"],
    ["select a from bh order by a", ["1", "4", "7"]],
  ]);
});
