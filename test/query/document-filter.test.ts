/**
 * Conditions on documents that are all different: only those that contain what they must are parsed, and the answers
 * are those of the same conditions where this cannot be known.
 */
import t from "tap";
import { EncodedColumn } from "../../src/query/exec/segments/encoded-column.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { Random } from "../fuzz/random.js";
import { directory } from "../storage/shards.js";
import { SIZES, Side } from "./segment-histories.js";

const ROWS = 4000;
const SHARES = { ...SIZES, segmentRows: 1024, changesMax: 200, storedRowsMin: 1000 };
/** Whatever JSON writes in a way of its own, and what looks like something else. */
// biome-ignore format: a list
const STRINGS = [
  "Bonn", "bonn", "", " x", "a\"b", "back\\slash", "line\nend", "\u0001", "Zürich", "日本", "𝔘nicode", "true", "false", "null",
  "1", "1.50", "1e3", "-2", "{\"a\": 1}", "{\"a\":1}", "[1, 2]", "/slash", "\u007f", "abc12", "e5", "a and b", "%", "_", "\u2028",
];
const NUMBERS = ["1", "1.50", "1000", "1e3", "-2", "0.1", "12345678901234567890"];

function anyJson(random: Random, depth: number): string {
  switch (random.below(depth > 2 ? 4 : 7)) {
    case 0:
      return NUMBERS[random.below(NUMBERS.length)]!;
    case 1:
      return ["true", "false", "null"][random.below(3)]!;
    case 2:
    case 3:
      return JSON.stringify(STRINGS[random.below(STRINGS.length)]!);
    case 4:
      return `[${Array.from({ length: random.below(4) }, () => anyJson(random, depth + 1)).join(", ")}]`;
    default:
      return anyObject(random, depth + 1);
  }
}

function anyObject(random: Random, depth: number): string {
  const names = ["a", "b", "city", 'ci"ty', "ü"].filter(() => random.below(2) === 0);
  return `{${names.map((name) => `${JSON.stringify(name)} : ${anyJson(random, depth)}`).join(", ")}}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** `doc`: the column, or the same in a form that nothing is known of. */
function conditions(doc: string, seed: number): readonly string[] {
  const random = new Random(seed);
  const text = () => quoted(STRINGS[random.below(STRINGS.length)]!);
  const name = () => quoted(["a", "b", "city", 'ci"ty', "ü", "none"][random.below(6)]!);
  const piece = () => STRINGS[random.below(STRINGS.length)]!.slice(random.below(3)).replaceAll("\\", "\\\\");
  const pattern = () => quoted([`%${piece()}%`, `${piece()}%`, `%a": ${piece()}%`, `%${piece()}_%`][random.below(4)]!);
  switch (random.below(9)) {
    case 0:
      return [`${doc} ->> ${name()} = ${text()}`];
    case 1:
      return [`${text()} = ${doc} -> ${name()} ->> ${name()}`];
    case 2:
      return [`${doc} #>> ARRAY[${name()}, '0'] = ${text()}`];
    case 3:
      return [`${doc} ->> ${name()} LIKE ${pattern()}`];
    case 4:
      return [`${doc} @> ${quoted(anyJson(random, 1))}`];
    case 5:
      return [`${doc} -> ${name()} @> ${quoted(anyJson(random, 2))}`];
    case 6:
      return [`${doc} ? ${name()}`];
    case 7:
      return [`${doc} -> ${name()} ? ${text()}`];
    default:
      return [`${doc} ->> ${name()} = ${text()}`, `${doc} @> ${quoted(anyObject(random, 1))}`];
  }
}

t.test("conditions on documents", async (t) => {
  const path = directory(t);
  let side: Side;
  const shard = await openShardOnDisk(path, { onDurable: (sequence) => side.partition.onDisk(sequence) });
  side = await Side.open(t, new SegmentCache(1e9, SHARES), shard, {
    tasks: { buildColumns } as unknown as LongTasks,
  });
  await side.partition.keepColumns(path);
  // A long write goes on when what is before it is on disk.
  side.onTurn = async () => {
    side.flush();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const exec = async (sql: string): Promise<string> => {
    const answer = await side.run(0, sql, !sql.startsWith("SELECT"));
    side.flush();
    if (answer.startsWith("error")) throw new Error(`${answer}: ${sql}`);
    return answer;
  };
  const random = new Random(11);
  const documentOf = (id: number): string => {
    if (random.below(50) === 0) return "NULL";
    if (random.below(20) === 0) return quoted(anyJson(random, 0));
    return quoted(anyObject(random, 0).replace(/^\{/, `{"n": ${id}, `).replace(", }", "}"));
  };
  await exec("CREATE TABLE item (id int PRIMARY KEY, doc jsonb)");
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => `(${from + i}, ${documentOf(from + i)})`);
    await exec(`INSERT INTO item VALUES ${rows.join(", ")}`);
  }
  for (let i = 0; i < 3; i++) {
    side.partition.sweep(Date.now(), new Set());
    await side.partition.columns!.idle();
  }
  // Corrections beside the files.
  for (let i = 0; i < 60; i++) await exec(`UPDATE item SET doc = ${documentOf(i)} WHERE id = ${random.below(ROWS)}`);
  const idsOf = (condition: string) => exec(`SELECT id FROM item WHERE ${condition} ORDER BY id`);
  let [found, some] = [0, 0];
  for (let seed = 0; seed < 100; seed++) {
    const ids = await idsOf(conditions("doc", seed).join(" AND "));
    const expected = await idsOf(conditions("COALESCE(doc, doc || 'null')", seed).join(" AND "));
    if (ids !== expected) t.fail(`seed ${seed}`);
    if (ids === "") continue;
    found += ids.split("\n").length;
    some++;
  }
  t.ok(some > 60 && found > 4000, `${some} conditions hold, of ${found} documents`);

  const { at } = EncodedColumn.prototype;
  t.teardown(() => {
    EncodedColumn.prototype.at = at;
  });
  let parsed = 0;
  EncodedColumn.prototype.at = function (row) {
    parsed++;
    return at.call(this, row);
  };
  await idsOf("doc ->> 'city' = 'Nowhere'");
  t.equal(parsed, 0, "no document contains it");
  await idsOf("COALESCE(doc, doc || 'null') ->> 'city' = 'Nowhere'");
  t.ok(parsed > ROWS / 2, `else ${parsed} documents are parsed`);
});
