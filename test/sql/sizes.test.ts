/** Values that grow without end: each ends in 54000, soon, and nothing else suffers. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

const TEXT = "54000 requested length too large";
const ARRAY = "54000 array size exceeds the maximum allowed (5000000)";
const MEMBERS = "54000 a value has at most 16777216 parts";

t.test("texts", (t) =>
  checkStatements(t, [
    ["do $$ declare s text := 'x'; begin loop s := s || s; end loop; end $$", TEXT],
    [
      `do $$ declare s text := 'x'; begin
         begin loop s := s || s; end loop; exception when program_limit_exceeded then null; end;
       end $$`,
    ],
    ["select length(repeat('x', 100000000))", TEXT],
    ["select length(replace(repeat('x', 100000), 'x', repeat('y', 100000)))", TEXT],
    ["select length(regexp_replace(repeat('x', 100000), 'x', repeat('y', 100000), 'g'))", TEXT],
    ["select length(format('%2000000000s', 'x'))", TEXT],
    ["select length(concat_ws(repeat('x', 60000000), 1, 2, 3))", TEXT],
    ["select length(lpad('', 20000000, 'é')), rpad('ab', 8, 'é😀')", ["20000000|abé😀é😀é😀"]],
  ]),
);

t.test("arrays", (t) =>
  checkStatements(t, [
    ["do $$ declare s int[] := '{1}'; begin loop s := s || s; end loop; end $$", ARRAY],
    ["select array_fill(1, array[100000000])", ARRAY],
    ["select string_to_array(repeat('x,', 20000000), ',')", ARRAY],
    [
      "select cardinality(array_agg(a)) from (select array_fill(1, array[3000000]) a from generate_series(1, 2)) x",
      ARRAY,
    ],
    ["select jsonb_agg(1) from generate_series(1, 5070000)", "54000 a list has at most 5000000 items"],
  ]),
);

t.test("patterns", (t) =>
  checkStatements(t, [
    ["select 'x' ~ repeat('a', 40000)", "2201B invalid regular expression: longer than 32768 characters"],
    ["select 'x' ~* repeat('a', 32000)", "2201B invalid regular expression: it is too large"],
  ]),
);

t.test("keys of an aggregated object", (t) =>
  checkStatements(t, [
    [
      "select jsonb_object_agg(i, 1) from generate_series(1, 131073) i",
      "54000 a JSON object that is put together has at most 131072 keys",
    ],
    [
      "select jsonb_object_agg(array[i], 1) from generate_series(1, 2) i",
      "22023 key value must be scalar, not array, composite, or json",
    ],
  ]),
);

t.test("JSON and records that hold a value many times", (t) =>
  checkStatements(t, [
    ["do $$ declare s jsonb := '[1]'; begin loop s := s || s; end loop; end $$", MEMBERS],
    ["do $$ declare s jsonb := '[1]'; begin loop s := jsonb_build_array(s, s); end loop; end $$", MEMBERS],
    ["do $$ declare s jsonb := '[1]'; begin loop s := to_jsonb(array[s, s]); end loop; end $$", MEMBERS],
    [
      "do $$ declare s jsonb := '[1]'; begin loop s := jsonb_set(jsonb_set('[1,2]', '{0}', s), '{1}', s); end loop; end $$",
      MEMBERS,
    ],
    [
      "do $$ declare r record; begin r := row(1); loop r := row(r, r); end loop; end $$",
      "54000 row type has too many fields",
    ],
  ]),
);

t.test("members with the name of the prototype", (t) =>
  checkStatements(t, [
    [
      "select jsonb_build_object('__proto__', 1), jsonb_object('{__proto__,1}')",
      ['{"__proto__": 1}|{"__proto__": "1"}'],
    ],
  ]),
);
