/**
 * Holds a tenant's data at the end of a simulation against what its clients know, and its indexes against its records.
 */
import { problemsOf } from "./serializability.js";
import { BULK_ROWS, LISTS, listName, readOf, type TenantWork, valuesOf } from "./workload.js";

/** Lists by name. */
export type Lists = ReadonlyMap<string, readonly number[]>;

export async function listsOf(work: TenantWork): Promise<Lists> {
  const final = new Map<string, number[]>();
  for (const { model, k } of LISTS) {
    const { sql, parameters } = readOf(model, k);
    const rows = await work.rows(sql, parameters);
    final.set(listName(model, k), valuesOf(rows[0]?.[0] ?? ""));
    if (rows.length !== 1) work.problems.push(`${listName(model, k)} has ${rows.length} rows`);
  }
  return final;
}

export async function problemsOfTenant(work: TenantWork, final: Lists): Promise<string[]> {
  const problems = [...work.problems, ...problemsOf(work.transactions, final)];
  problems.push(...(await problemsOfIndexes(work, final)));
  problems.push(...(await problemsOfBulks(work)));
  const own = work.identity.tenantNumber % 10;
  for (const [key, list] of final) {
    if (list.some((value) => value % 10 !== own)) problems.push(`${key} holds another tenant's value: ${list}`);
  }
  return problems.map((problem) => `tenant ${work.name}: ${problem}`);
}

/** Its indexes, the journal and relationships must be as its lists are. */
export async function problemsOfIndexes(work: TenantWork, final: Lists): Promise<string[]> {
  const problems: string[] = [];
  const differs = (what: string, found: unknown, expected: unknown): void => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) problems.push(`${what}: ${a}, not ${b}`);
  };
  const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);
  const journal = (await work.rows("SELECT x, place FROM journal")) as [number, string][];
  for (const [key, list] of final) {
    differs(
      `the journal of ${key}`,
      sorted(journal.filter(([, place]) => place === key).map(([x]) => x)),
      sorted(list),
    );
  }
  for (const { model, k } of LISTS) {
    const list = final.get(listName(model, k))!;
    if (model === "node") {
      const out = await work.rows("MATCH (l:List {k: $k})-[h:HAS]->(v:Val) WHERE h.x = v.x RETURN v.x", { k });
      differs(`relationships of node${k}`, sorted(out.map(([x]) => x as number)), sorted(list));
      const back = await work.rows("MATCH (v:Val)<-[:HAS]-(l:List) WHERE l.k = $k RETURN v.x, l.n", { k });
      differs(`relationships to node${k}`, sorted(back.map(([x]) => x as number)), sorted(list));
      continue;
    }
    const id = model === "doc" ? `'d${k}'` : String(k);
    const name = model === "doc" ? "id" : "k";
    const table = `list_${model}`;
    const byIndex = await work.rows(`SELECT ${name}, n FROM ${table} WHERE n = $1 AND ${name} = ${id}`, [list.length]);
    differs(`${table} by n`, byIndex.length, 1);
    const others = await work.rows(`SELECT count(*) FROM ${table} WHERE n = $1`, [list.length]);
    const all = await work.rows(`SELECT count(*) FROM ${table} WHERE n + 0 = $1`, [list.length]);
    differs(`${table} by n, counted`, others, all);
    const text = list.map((x) => ` x${x}`).join("");
    const byText = await work.rows(`SELECT ${name} FROM ${table} WHERE v = $1 AND n = $2`, [text, list.length]);
    if (list.length > 0) differs(`${table} by its text`, byText, [[model === "doc" ? `d${k}` : k]]);
    for (const x of [list[0], list.at(-1)]) {
      if (x === undefined || model === "row") continue;
      const found = await work.rows(
        `SELECT ${name} FROM ${table} WHERE to_tsvector('simple', v) @@ to_tsquery('simple', $1)`,
        [`x${x}`],
      );
      differs(`${table} by the word x${x}`, found, [[model === "doc" ? `d${k}` : k]]);
    }
    const last = list.at(-1);
    if (model === "doc" && last !== undefined) {
      const { documents } = await work.must("documents.search", { query: `x${last}`, mode: "text" }, ["list_doc"]);
      differs(
        `documents with x${last}`,
        (documents as { id: string }[]).map((one) => one.id),
        [`d${k}`],
      );
    }
    if (model === "vec" && last !== undefined) {
      const vector = [last % 97, k, last];
      const near = await work.rows("SELECT k, e FROM list_vec ORDER BY e <-> $1 LIMIT 1", [vector]);
      differs(`the vector nearest to that of vec${k}`, near, [[k, vector]]);
    }
  }
  return problems;
}

async function problemsOfBulks(work: TenantWork): Promise<string[]> {
  const problems: string[] = [];
  const found = new Map((await work.rows("SELECT b, count(*)::integer FROM bulk GROUP BY b")) as [number, number][]);
  for (const [b, count] of found) {
    if (count !== BULK_ROWS) problems.push(`bulk ${b} is there by half: ${count} rows of ${BULK_ROWS}`);
    if (!work.bulks.has(b)) problems.push(`bulk ${b} is from nowhere`);
    if (work.bulks.get(b)?.ending === "aborted") problems.push(`bulk ${b} was refused and is there`);
    const byIndex = await work.rows("SELECT count(*)::integer FROM bulk WHERE b = $1", [b]);
    if (byIndex[0]![0] !== count) problems.push(`bulk ${b} has ${byIndex[0]![0]} rows by index, ${count} without`);
  }
  for (const [b, { ending }] of work.bulks) {
    if (ending === "committed" && !found.has(b)) problems.push(`bulk ${b} was acknowledged and is lost`);
  }
  return problems;
}
