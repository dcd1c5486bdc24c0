/** pgvector's types halfvec and sparsevec: input, output, casts, operators, functions, storage. */
import t from "tap";
import { fromText } from "../../src/values/text-format.js";
import { HALFVEC, SPARSEVEC } from "../../src/values/values.js";
import { checkStatements } from "../sql/run-sql.js";

t.test("halfvec and sparsevec", (t) =>
  checkStatements(t, [
    ["create table items (id int primary key, h halfvec(3), s sparsevec(5))"],
    ["insert into items values (1, '[1,2,3]', '{1:1,3:2}/5'), (2, '[0.1,-65504,6e-8]', '{}/5'), (3, null, null)"],
    ["select h, s from items order by id", ["[1,2,3]|{1:1,3:2}/5", "[0.099975586,-65504,5.9604645e-08]|{}/5", "∅|∅"]],
    ["insert into items values (4, '[1,2]')", "22000 expected 3 dimensions, not 2"],
    ["insert into items values (4, '[1,2,65520]')", '22003 "65520" is out of range for type halfvec'],
    ["select '[1,x]'::halfvec", '22P02 invalid input syntax for type halfvec: "[1,x]"'],
    ["select '{3:1,1:2,2:0}/3'::sparsevec", ["{1:2,3:1}/3"]],
    ["select '{1:1,1:2}/3'::sparsevec", "22000 sparsevec indices must not contain duplicates"],
    ["select '{4:1}/3'::sparsevec", "22000 sparsevec index out of bounds"],
    ["select '{1:1}'::sparsevec", '22P02 invalid input syntax for type sparsevec: "{1:1}"'],
    ["select l2_normalize('{1:1e-45,2:1e38}/2'::sparsevec)", ["{2:1}/2"]],
    ["insert into items values (4, null, '{1:1}/3')", "22000 expected 5 dimensions, not 3"],
    ["select h <-> '[1,2,5]', h <#> '[1,1,1]', h <=> '[2,4,6]', h <+> '[0,0,0]' from items where id = 1", ["2|-6|0|6"]],
    [
      "select s <-> '{1:1,2:2}/5', s <#> '{3:2}/5', s <=> '{1:2,3:4}/5', s <+> '{5:1}/5' from items where id = 1",
      ["2.8284271247461903|-4|0|4"],
    ],
    ["select s <-> '{1:1}/4' from items where id = 1", "22000 different sparsevec dimensions 5 and 4"],
    ["select id from items where h is not null order by h <-> '[1,2,2]', s <-> '{1:1}/5' limit 1", ["1"]],
    [
      "select h + '[1,1,1]', h * h, h || h, l2_norm('[3,4]'::halfvec), vector_dims(h) from items where id = 1",
      ["[2,3,4]|[1,4,9]|[1,2,3,1,2,3]|5|3"],
    ],
    [
      "select l2_normalize('[3,4]'::halfvec), l2_normalize('{2:5}/3'::sparsevec), l1_distance(h, h) from items where id = 1",
      ["[0.60009766,0.7998047]|{2:1}/3|0"],
    ],
    [
      "select '[0.1,2]'::vector::halfvec, '[0.5,2]'::halfvec::vector, '[0,2]'::vector::sparsevec, '{2:2}/2'::sparsevec::vector",
      ["[0.099975586,2]|[0.5,2]|{2:2}/2|[0,2]"],
    ],
    [
      "select array[1,2]::halfvec, array[0,2]::sparsevec, '[1,2]'::halfvec::real[], '{1:3}/2'::sparsevec::halfvec",
      ["[1,2]|{2:2}/2|{1,2}|[3,0]"],
    ],
    ["select b'101' <~> b'111', b'101' <%> b'100', b'00' <%> b'00', hamming_distance(b'11', '00')", ["1|0.5|1|2"]],
    ["select b'10' <~> b'1'", "22000 different bit lengths 2 and 1"],
    ["select l2_distance('[1,2]', '[1,4]')", ["2"]],
    ["select h = '[1,2,3]', s = '{1:1,3:2}/5', count(*) from items where id = 1 group by h, s", ["true|true|1"]],
    [
      "select to_json(h), pg_typeof(h), pg_typeof(s), format_type('halfvec'::regtype, 3) from items where id = 1",
      ["[1,2,3]|halfvec|sparsevec|halfvec(3)"],
    ],
    [
      "select '{2:-1}/3'::sparsevec < '{}/3', '{}/2'::sparsevec < '{}/3', '{3:1}/3'::sparsevec > '{3:0.5}/3'",
      ["true|true|true"],
    ],
    ["select h + '[1]' from items where id = 1", "22000 different halfvec dimensions 3 and 1"],
    ["select '[65504]'::halfvec + '[65504]'", "22003 value out of range: overflow"],
    ["select '[1e-7]'::halfvec * '[1e-7]'", "22003 value out of range: underflow"],
    ["select array[]::real[]::halfvec", "22000 halfvec must have at least 1 dimension"],
    ["select array['NaN'::real]::sparsevec", "22000 NaN not allowed in sparsevec"],
    ["select sum(v), avg(v) from (values ('[1,2,3]'::halfvec), ('[3,5,7]'), (null)) as g(v)", ["[4,7,10]|[2,3.5,5]"]],
    ["select sum(v), avg(v) from (values (null::halfvec)) as g(v)", ["∅|∅"]],
    ["select sum(v) from (values ('[65504]'::halfvec), ('[65504]')) as g(v)", "22003 value out of range: overflow"],
    ["select avg(v) from (values ('[65504]'::halfvec), ('[65504]')) as g(v)", ["[65504]"]],
    ["select sum(v) from (values ('[1,2]'::halfvec), ('[3]')) as g(v)", "22000 different halfvec dimensions 2 and 1"],
    [
      "select vector_cmp('[1,2]', '[1,2,3]'), halfvec_cmp('[1,2]', '[0,9]'), sparsevec_cmp('{1:1}/2', '{1:1}/2')",
      ["-1|1|0"],
    ],
    [
      "create index on items (s)",
      '42704 data type sparsevec(5) has no default operator class for access method "btree"',
    ],
    ["create table wide (h halfvec(16001))", "22023 dimensions for type halfvec cannot exceed 16000"],
  ]),
);

t.test("ordered indexes on vectors", (t) =>
  checkStatements(t, [
    ["create table g (v vector primary key, h halfvec(2))"],
    ["create index on g (h desc)"],
    ["insert into g values ('[1,2,3]', '[2,1]'), ('[-1,5]', '[-3,0]'), ('[1,2]', null), ('[0]', '[2,0.5]')"],
    ["insert into g values ('[1,2,3]', null)", '23505 duplicate key value violates unique constraint "g_pkey"'],
    ["insert into g values ('[-0]', null)", '23505 duplicate key value violates unique constraint "g_pkey"'],
    ["select v from g order by v", ["[-1,5]", "[0]", "[1,2]", "[1,2,3]"]],
    ["select v from g where v > '[-1,9]' and v < '[1,2,0]' order by v desc", ["[1,2]", "[0]"]],
    ["select h from g where h >= '[-3,0]' order by h desc", ["[2,1]", "[2,0.5]", "[-3,0]"]],
    ["update g set v = '[-0]' where v = '[0]'"],
    ["select v from g where v = '[0]'", ["[-0]"]],
  ]),
);

t.test("indexes on bits", (t) =>
  checkStatements(t, [
    ["create table b (id int primary key, v bit(4), w varbit)"],
    ["insert into b select i, (i % 16)::bit(4), (i % 16)::bit(4)::varbit || b'01' from generate_series(0, 99) i"],
    ["create index b_share on b using hnsw (v bit_jaccard_ops)"],
    ["create index on b using hnsw ((w::bit(6)) bit_hamming_ops)"],
    [
      "select indexdef from pg_indexes where tablename = 'b' and indexdef like '%hnsw%' order by 1",
      [
        "CREATE INDEX b_share ON public.b USING hnsw (v bit_jaccard_ops) WITH (m='16', ef_construction='64')",
        "CREATE INDEX b_w_idx ON public.b USING hnsw (((w)::bit(6)) bit_hamming_ops) WITH (m='16', ef_construction='64')",
      ],
    ],
    ["select v <%> b'1110', id from b order by v <%> b'1110', id limit 4", ["0|14", "0|30", "0|46", "0|62"]],
    ["select distinct v from (select v from b order by v <%> b'0001' limit 6) q", ["0001"]],
    ["select id from b where id < 40 order by jaccard_distance(v, b'1110') limit 2 offset 1", ["30", "15"]],
    ["insert into b values (100, b'1110', b'111101'), (101, b'0000', null)"],
    ["delete from b where id in (14, 30, 46, 62, 78, 94)"],
    ["select id from b order by v <%> b'1110' limit 1", ["100"]],
    ["select count(*) from (select w from b order by w::bit(6) <~> b'111101' limit 7) q where w = b'111101'", ["7"]],
    [
      "create index on b using hnsw (v)",
      '42704 data type bit(4) has no default operator class for access method "hnsw"',
    ],
    ["create index on b using ivfflat (w bit_hamming_ops)", "22023 type not supported for ivfflat index"],
    [
      "create index on b using hnsw ((w::bit(64001)) bit_hamming_ops)",
      "54000 column cannot have more than 64000 dimensions for hnsw index",
    ],
    [
      "create index on b using ivfflat (v bit_jaccard_ops)",
      '42704 operator class "bit_jaccard_ops" does not exist for access method "ivfflat"',
    ],
  ]),
);

t.test("settings of pgvector", (t) =>
  checkStatements(t, [
    ["show hnsw.iterative_scan", ["off"]],
    ["set hnsw.iterative_scan = strict_order"],
    ["show hnsw.iterative_scan", ["strict_order"]],
    ["set hnsw.iterative_scan = on", '22023 invalid value for parameter "hnsw.iterative_scan": "on"'],
    [
      "set ivfflat.iterative_scan = strict_order",
      '22023 invalid value for parameter "ivfflat.iterative_scan": "strict_order"',
    ],
    ["show hnsw.max_scan_tuples", ["20000"]],
    ["set hnsw.scan_mem_multiplier = 2.5"],
    ["set ivfflat.probes = 0", '22023 0 is outside the valid range for parameter "ivfflat.probes" (1 .. 32768)'],
  ]),
);

t.test("texts that are no vectors take time in proportion to their length", async (t) => {
  const ones = "1".repeat(200_000);
  t.throws(() => fromText(SPARSEVEC, `{${" ".repeat(200_000)}`), { code: "query_error" });
  t.throws(() => fromText(SPARSEVEC, `{1:${ones}x}/3`), { code: "query_error" });
  t.throws(() => fromText(HALFVEC, `[${ones}x]`), { code: "query_error" });
  t.throws(() => fromText(SPARSEVEC, `{${"1:1,".repeat(20_000)}1:1}/3`), /non-zero elements/);
});

t.test("pgvector's states, arrays and words", (t) =>
  checkStatements(t, [
    ["select vector_accum('{0}', '[1,2,3]'), vector_accum('{1,1,2,3}', '[1,1,1]')", ["{1,1,2,3}|{2,2,3,4}"]],
    ["select halfvec_accum('{0,0}', '[1,2,3]')", "22000 expected 1 dimensions, not 3"],
    ["select vector_combine('{1,2}', '{3,4}'), vector_combine('{0}', '{1,5}')", ["{4,6}|{1,5}"]],
    ["select vector_combine('{1,2}', '{{3,4}}')", "22000 vector_combine: expected state array"],
    ["select vector_avg('{2,2,4,6}'), halfvec_avg('{0}')", ["[1,2,3]|∅"]],
    ["select vector_avg('{1}')", "22000 vector must have at least 1 dimension"],
    ["select array_to_vector(array[1,2], 2, true), array_to_sparsevec(array[0,2.5], -1, true)", ["[1,2]|{2:2.5}/2"]],
    ["select array_to_halfvec(array[1,2], 3, true)", "22000 expected 3 dimensions, not 2"],
    ["select '{4e38}'::float8[]::vector", "22000 infinite value not allowed in vector"],
    [
      "select array_agg(n)::sparsevec from generate_series(1, 16001) n",
      "54000 sparsevec cannot have more than 16000 non-zero elements",
    ],
    ["select '{}/-1'::sparsevec", "22000 sparsevec must have at least 1 dimension"],
    ["select '{-1:1}/1'::sparsevec", "22000 sparsevec index out of bounds"],
    ["select '{1:NaN}/1'::sparsevec", "22000 NaN not allowed in sparsevec"],
    ["select '{1:1e-46}/1'::sparsevec", '22003 "1e-46" is out of range for type sparsevec'],
    ["select '[1]'::vector('a')", '22P02 invalid input syntax for type integer: "a"'],
    ["select '[1]'::vector('1')", ["[1]"]],
  ]),
);

t.test("what is wrong with a text", async (t) => {
  const detail = (text: string, type: typeof HALFVEC): unknown => {
    try {
      return fromText(type, text);
    } catch (error) {
      return (error as { details?: { detail?: string } }).details?.detail;
    }
  };
  t.equal(detail("1,2", HALFVEC), 'Vector contents must start with "[".');
  t.equal(detail("[1,2]9", HALFVEC), "Junk after closing right brace.");
  t.equal(detail("", SPARSEVEC), 'Vector contents must start with "{".');
  t.equal(detail("{}", SPARSEVEC), "Unexpected end of input.");
  t.equal(detail("{}/1a", SPARSEVEC), "Junk after closing.");
});
