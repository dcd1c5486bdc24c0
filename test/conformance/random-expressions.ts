/** Random scalar expressions over the types whose functions and operators are many: see expressions.test.ts. */
import { randomFrom } from "../fuzz/random.js";

type Kind = "int" | "numeric" | "text" | "bool" | "date" | "interval" | "jsonb" | "array" | "path";

const LEAVES: Readonly<Record<Kind, readonly string[]>> = {
  int: ["0", "1", "-7", "42", "NULL::int"],
  numeric: ["0.00", "1.5", "-12.345", "1e20::numeric", "100::numeric", "NULL::numeric"],
  text: ["''", "'a'", "'Hello World'", "'äöü€'", "'x,y,,z'", "'2024-02-29'", "NULL::text"],
  bool: ["true", "false", "NULL::bool"],
  date: ["timestamp '2024-02-29 13:14:15.678'", "timestamp '1999-12-31'", "timestamp '0044-03-15 BC'"],
  interval: [
    "interval '1 day'",
    "interval '-1 mon 2 days 03:04:05.6'",
    "interval '90 min'",
    "interval '2 years 40 days'",
  ],
  jsonb: [
    `'{"a": 1, "b": [1, 2.50, "x", null], "c": {"d": true}}'::jsonb`,
    `'[1, "a", {"a": 2}, [3, 4], null]'::jsonb`,
    `'12.30'::jsonb`,
    `'"text"'::jsonb`,
    `'{}'::jsonb`,
    "'null'::jsonb",
  ],
  array: ["array[1,2,3]", "'{}'::int[]", "array[4,NULL,5]", "'[0:1]={7,8}'::int[]"],
  path: [
    "'$'",
    "'$.a'",
    "'$.b[*]'",
    "'strict $.b[1 to last]'",
    "'$[*] ? (@ > 1)'",
    "'$.**{1 to 2}'",
    "'$.b[*].type()'",
    "'$.* ? (exists (@.d))'",
    "'$[last - 1]'",
    "'-$.a'",
    "'$.c.keyvalue()'",
    "'$.b.size() + $.a * 2'",
    "'$ ? (@.a == 1 || @.c.d == true)'",
  ],
};

/** `$int` and the like stand for expressions of that kind. */
const FORMS: Readonly<Record<Exclude<Kind, "path">, readonly string[]>> = {
  int: [
    "$int + $int",
    "$int - $int",
    "abs($int)",
    "length($text)",
    "strpos($text, $text)",
    "ascii($text)",
    "array_length($array, 1)",
    "cardinality($array)",
    "jsonb_array_length($jsonb)",
    "array_position($array, $int)",
    "nullif($int, $int)",
    "coalesce($int, $int)",
    "greatest($int, $int)",
    "extract(day from $date)::int",
    "extract(isoyear from $date)::int",
    "$array[$int]",
    "($int) % 5",
  ],
  numeric: [
    "$numeric + $numeric",
    "$numeric * $numeric",
    "round($numeric, $int)",
    "trunc($numeric, 1)",
    "ceil($numeric)",
    "$numeric / 7",
    "mod($numeric, 3)",
    "extract(epoch from $interval)",
    "extract(second from $date)",
    "trim_scale($numeric)",
  ],
  text: [
    "upper($text)",
    "initcap($text)",
    "$text || $text",
    "substr($text, $int)",
    "left($text, $int)",
    "lpad($text, 8, 'xy')",
    "replace($text, 'l', $text)",
    "split_part($text, ',', 2)",
    "translate($text, 'lo', 'x')",
    "reverse($text)",
    "btrim($text, ' aH')",
    "overlay($text placing 'ZZ' from 2 for 3)",
    "quote_literal($text)",
    "quote_ident($text)",
    "quote_nullable($text)",
    "concat_ws('-', $text, $int, $bool)",
    "format('%s|%I|%5s', $text, 'b c', $int)",
    "regexp_replace($text, '[lo]+', '<\\&>', 'g')",
    "encode(convert_to($text, 'UTF8'), 'base64')",
    "md5($text)",
    "to_char($date, 'YYYY-MM-DD HH12:MI:SS.MS AM Q WW DDD Mon')",
    "jsonb_typeof($jsonb)",
    "$jsonb ->> 'a'",
    "$jsonb #>> '{b,1}'",
    "array_to_string($array, '-', '?')",
    "concat(variadic $array)",
  ],
  bool: [
    "$bool and $bool",
    "$bool or $bool",
    "not $bool",
    "$int < $int",
    "$text < $text",
    "$numeric = $numeric",
    "$int is distinct from $int",
    "$int between symmetric $int and $int",
    "$text like '%l_o%'",
    "$text similar to '%(a|o)%'",
    "$text ~ 'l+o'",
    "$jsonb @> $jsonb",
    "$jsonb ? 'a'",
    "$jsonb < $jsonb",
    "$jsonb @? $path",
    "$jsonb = $jsonb",
    "$array && $array",
    "$array @> $array",
    "$int = any ($array)",
    "($date, $interval) overlaps ($date, $interval)",
    "isfinite($date)",
  ],
  date: [
    "$date + $interval",
    "$date - $interval",
    "date_trunc('month', $date)",
    "date_trunc('week', $date)",
    "date_bin('15 minutes', $date, timestamp '2001-01-01')",
    "make_timestamp(2024, 2, 29, 1, 2, 3.5)",
  ],
  interval: [
    "$date - $date",
    "age($date, $date)",
    "$interval + $interval",
    "$interval * 1.5",
    "$interval / 2",
    "justify_interval($interval)",
    "justify_days($interval)",
    "-$interval",
    "make_interval(days => 3, hours => $int)",
  ],
  jsonb: [
    "$jsonb -> 'b'",
    "$jsonb -> 1",
    "$jsonb || $jsonb",
    "$jsonb - 'a'",
    "$jsonb #- '{b,0}'",
    "jsonb_set($jsonb, '{b,1}', $jsonb)",
    "jsonb_insert($jsonb, '{b,1}', '9')",
    "jsonb_strip_nulls($jsonb)",
    "jsonb_build_object('k', $int, 'l', $text)",
    "jsonb_build_array($numeric, $bool, $date)",
    "to_jsonb($array)",
    "to_jsonb($numeric)",
    "jsonb_path_query_array($jsonb, $path)",
    "jsonb_path_query_first($jsonb, $path, silent => true)",
    "($jsonb)['b'][1]",
  ],
  array: [
    "$array || $int",
    "$array || $array",
    "array_remove($array, $int)",
    "array_replace($array, $int, 9)",
    "($array)[1:2]",
    "array_append($array, $int)",
    "array_positions($array, $int)",
  ],
};

const KINDS = Object.keys(FORMS) as (keyof typeof FORMS)[];

/** So many expressions; equal seeds give equal ones. */
export function randomExpressions(seed: number, count: number): string[] {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const make = (kind: Kind, depth: number): string => {
    if (kind === "path" || depth === 0 || random() < 0.3) return pick(LEAVES[kind]);
    const form = pick(FORMS[kind]);
    return form.replace(/\$([a-z]+)/g, (_, inner: Kind) => {
      const part = make(inner, depth - 1);
      return inner === "path" ? part : `(${part})`;
    });
  };
  return Array.from({ length: count }, () => make(pick(KINDS), 2));
}
