/**
 * `tessera bench`: how fast a running server answers, measured from here, in a table that goes away. Exit codes:
 * api-client.ts.
 */
import type { Command } from "commander";
import { type ApiClient, CommandError, EXIT } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";

interface Options extends ClientOptions {
  readonly seconds: string;
  readonly connections: string;
}

interface Measured {
  readonly what: string;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly refused: number;
}

const ROWS = 10_000;
const TABLE = "_tessera_bench";
const EXECUTE = "/v1/query/execute";

export function addBenchCommand(program: Command): void {
  addClientCommand<Options>(
    program,
    "bench",
    "measure how fast a running server reads, writes and adds up, from this machine",
    bench,
  )
    .option("--seconds <count>", "for each of the works", "3")
    .option("--connections <count>", "requests at a time", "8")
    .addHelpText(
      "after",
      `
Examples:
  tessera bench
  tessera bench --seconds 10 --connections 32 --json

The rate limit counts: requests that are refused are told.`,
    );
}

async function bench(options: Options): Promise<Told> {
  const [seconds, connections] = [countOf("seconds", options), countOf("connections", options)];
  const client = await connect(options);
  const run = (sql: string, parameters: readonly unknown[] = []) =>
    client.call("POST", EXECUTE, parameters.length === 0 ? { sql } : { sql, parameters });
  await run(`DROP TABLE IF EXISTS "${TABLE}"`);
  await run(`CREATE TABLE "${TABLE}" (id integer PRIMARY KEY, amount integer, name text)`);
  try {
    await run(`INSERT INTO "${TABLE}" SELECT i, i % 1000, 'name ' || i FROM generate_series(1, ${ROWS}) i`);
    const random = () => 1 + Math.floor(Math.random() * ROWS);
    let last = ROWS;
    const works: readonly (readonly [string, () => readonly [string, readonly unknown[]]])[] = [
      ["read a row", () => [`SELECT name FROM "${TABLE}" WHERE id = $1`, [random()]]],
      ["insert a row", () => [`INSERT INTO "${TABLE}" VALUES ($1, 1, 'new')`, [++last]]],
      ["add up all rows", () => [`SELECT sum(amount) FROM "${TABLE}"`, []]],
    ];
    const found: Measured[] = [];
    for (const [what, next] of works) found.push(await measure(client, what, next, seconds, connections));
    const lines = found.map((each) => lineOf(each));
    return { data: { seconds, connections, works: found }, lines };
  } finally {
    await run(`DROP TABLE IF EXISTS "${TABLE}"`);
  }
}

function countOf(name: "seconds" | "connections", options: Options): number {
  const count = Number(options[name]);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new CommandError(EXIT.usage, "usage", `--${name} is a whole number from 1 to 1000`);
}

async function measure(
  client: ApiClient,
  what: string,
  next: () => readonly [sql: string, parameters: readonly unknown[]],
  seconds: number,
  connections: number,
): Promise<Measured> {
  const times: number[] = [];
  let refused = 0;
  const started = performance.now();
  const end = started + seconds * 1000;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const [sql, parameters] = next();
      const begun = performance.now();
      try {
        await client.call("POST", EXECUTE, { sql, parameters });
        times.push(performance.now() - begun);
      } catch (error) {
        if (!(error instanceof CommandError && error.code === "rate_limited")) throw error;
        refused++;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const elapsed = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => Number((times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2));
  return { what, per_second: Math.round(times.length / elapsed), p50_ms: at(0.5), p99_ms: at(0.99), refused };
}

function lineOf({ what, per_second: rate, p50_ms: p50, p99_ms: p99, refused }: Measured): string {
  const told = refused === 0 ? "" : `, ${refused} refused by the rate limit`;
  return `${what.padEnd(16)} ${String(rate).padStart(7)}/s   half within ${p50} ms, 99% within ${p99} ms${told}`;
}
