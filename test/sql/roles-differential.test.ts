/**
 * Random roles, grants and policies × random statements, by PostgreSQL's protocol here and in PostgreSQL: the same rows
 * and the same refusals.
 */
import pg from "pg";
import t from "tap";
import { startPostgres } from "../conformance/postgres.js";
import { WireDoor } from "../conformance/wire-adapter.js";
import { tries } from "../lengths.js";
import { Chance, definitions, ROLES, type Step, steps } from "./random-rights.js";

const SCHEMAS = tries(2);
const STATEMENTS = 40;
const REFUSAL = /^\d\w{4}$/;

/** A statement that may be a COPY: sends rows, and keeps those that come. */
class CopyQuery extends (pg.Query as unknown as new (
  config: object,
  done: (error: Error | null, result: pg.QueryArrayResult | pg.QueryArrayResult[]) => void,
) => pg.Submittable) {
  copied = "";
  given = "";

  handleCopyInResponse(connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }): void {
    connection.sendCopyFromChunk(Buffer.from(this.given));
    connection.endCopyFrom();
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.copied += chunk.toString();
  }
}

/** The rows in an order, or the SQLSTATE. */
async function answer(client: pg.Client, { sql, rows = "" }: Step): Promise<string> {
  return new Promise((resolve) => {
    const types = { getTypeParser: () => (text: string) => text };
    const query = new CopyQuery({ text: sql, rowMode: "array", types }, (error, result) => {
      if (error !== null) return resolve((error as pg.DatabaseError).code ?? error.message);
      const { rows = [], command = "" } = Array.isArray(result) ? result.at(-1)! : result;
      const lines = (rows as (string | null)[][]).map((row) => row.map((value) => value ?? "∅").join("|"));
      const text = [...lines, ...query.copied.split("\n")]
        .filter((line) => line !== "")
        .sort()
        .join("\n");
      resolve(text === "" && command === null ? "" : text);
    });
    query.given = rows;
    client.query(query);
  });
}

const oracle = await startPostgres();

t.test("the same rows and refusals as in PostgreSQL", { skip: oracle === null, timeout: 3_000_000 }, async (t) => {
  const door = await WireDoor.start();
  t.teardown(() => Promise.all([door.stop(), oracle!.stop()]));
  const first = Number(process.env.SEED ?? 1);
  let refused = 0;
  let answered = 0;
  for (let seed = first; seed < first + SCHEMAS; seed++) {
    const c = new Chance(seed * 7919);
    const theirs = new pg.Client({ host: oracle!.directory, user: "tester", database: "postgres" });
    await theirs.connect();
    const ours = await door.connect();
    const both = async (step: Step) => [await answer(theirs, step), await answer(ours, step)] as const;
    for (const sql of [
      ...["drop schema public cascade", "create schema public", "grant usage on schema public to public"],
      ...["member", ...ROLES].map(
        (role) =>
          `do $$ begin if exists (select from pg_roles where rolname = '${role}') then drop owned by ${role}; drop role ${role}; end if; end $$`,
      ),
      "create role member",
      // What statements before these have said for all that tester makes.
      "alter default privileges revoke all on tables from public",
      "alter default privileges grant execute on functions to public",
    ]) {
      await theirs.query(sql);
    }
    const said: string[] = [];
    for (const sql of definitions(c)) {
      said.push(sql);
      // What a definition answers is its tag.
      const [expected, found] = (await both({ sql })).map((text) => REFUSAL.exec(text)?.[0]);
      if (found !== expected) t.equal(found, expected, `seed ${seed}: ${sql}`);
    }
    for (let i = 0; i < STATEMENTS; i++) {
      const role = c.one(ROLES);
      const together = steps(c);
      await both({ sql: `set session authorization ${role}` });
      const [expected, found]: string[][] = [[], []];
      for (const step of together) {
        const [right, is] = await both(step);
        expected!.push(right);
        found!.push(is);
        if (REFUSAL.test(right)) refused++;
        else answered++;
      }
      await both({ sql: "reset session authorization" });
      said.push(
        `/* ${role} */ ${together.map(({ sql }) => sql).join("; ")} -- ${expected!.map((text) => text.slice(0, 60).replaceAll("\n", " "))}`,
      );
      if (found!.join("\n;") === expected!.join("\n;")) continue;
      const before = said.filter((one) => !one.startsWith("insert into t")).join(";\n");
      t.equal(
        found!.join("\n;"),
        expected!.join("\n;"),
        `seed ${seed}, ${role}: ${together.map(({ sql }) => sql).join("; ")}\n${before}`,
      );
      break;
    }
    await theirs.end();
    await ours.end();
  }
  t.ok(refused > SCHEMAS && answered > SCHEMAS, `${refused} refused, ${answered} answered`);
});
