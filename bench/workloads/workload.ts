/** What a workload is, and the data that all of them work on. */
import type { Contender } from "../contenders/contenders.js";
import type { Request } from "../load/requests.js";
import { post } from "../servers.js";

export interface Workload {
  /** "w1" to "w8". */
  readonly id: string;
  readonly title: string;
  readonly connections: number;
  /** False: a connection for each request. */
  readonly keepAlive: boolean;
  readonly data: Data;
  readonly aims: readonly Aim[];
  /** The rows of the table that this contender gives, one for most. */
  entries(contender: Contender, prepared: Prepared): Promise<readonly EntryOf[]>;
  /** Set up beside the measurements, before the warm-up; a text says why it cannot be. */
  surround?(contender: Contender): Promise<Surroundings | string>;
}

export interface Data {
  readonly accounts: number;
  readonly tenants: number;
  readonly rowsPerTenant: number;
}

export interface Prepared {
  /** A token for each tenant. */
  readonly tokens: readonly string[];
}

export interface EntryOf {
  /** What is special about it, after the contender's name; empty for its plain row. */
  readonly variant: string;
  /** Sent in this order, round and round. A text instead says why the row is left out. */
  readonly requests: readonly Request[] | string;
}

export interface Surroundings {
  stop(): Promise<void>;
}

/** A ratio of medians between two rows, by `id` and `variant`, or a bound on one row's latency. */
export type Aim =
  | { readonly kind: "ratio"; readonly of: string; readonly to: string; readonly atLeast: number }
  | {
      readonly kind: "latency";
      readonly of: string;
      readonly p99AtMost: (p50Ms: number) => number;
      readonly text: string;
    };

export const ACCOUNTS: Data = { accounts: 10_000, tenants: 0, rowsPerTenant: 0 };

/** Distinct requests of a file; sent round and round. */
export const REQUESTS = 10_000;

const COLUMNS = "id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL";
const ROWS_PER_STATEMENT = 1000;
const SIGN_INS_AT_ONCE = 4;

/**
 * The same tables and rows everywhere; with Tessera each tenant has a table of its own, with the peers a key's column.
 */
export async function prepare(contender: Pick<Contender, "url" | "token" | "isPeer">, data: Data): Promise<Prepared> {
  const { url, token } = contender;
  if (contender.isPeer) {
    const { tokens } = await post(`${url}/prepare`, data, token);
    return { tokens: tokens as string[] };
  }
  await execute(url, token, `CREATE TABLE entries (${COLUMNS})`);
  await fillAccounts(url, token, data.accounts);
  const tokens: string[] = [];
  for (let from = 0; from < data.tenants; from += SIGN_INS_AT_ONCE) {
    const length = Math.min(SIGN_INS_AT_ONCE, data.tenants - from);
    const some = Array.from({ length }, (_, i) => makeTenant(contender, `tenant-${from + i}`, data.rowsPerTenant));
    tokens.push(...(await Promise.all(some)));
  }
  return { tokens };
}

async function makeTenant({ url, token }: Pick<Contender, "url" | "token">, id: string, rows: number): Promise<string> {
  const password = `password of ${id}`;
  await post(`${url}/admin/tenants`, { id }, token);
  await post(`${url}/admin/tenants/${id}/users`, { username: id, password }, token);
  const { access_token } = await post(`${url}/v1/auth/login`, { username: id, password }, null);
  await fillAccounts(url, access_token as string, rows);
  return access_token as string;
}

async function fillAccounts(url: string, token: string, count: number): Promise<void> {
  await execute(url, token, `CREATE TABLE accounts (${COLUMNS})`);
  for (let from = 1; from <= count; from += ROWS_PER_STATEMENT) {
    const length = Math.min(ROWS_PER_STATEMENT, count - from + 1);
    const rows = Array.from({ length }, (_, i) => `(${from + i}, 'name of ${from + i}', ${(from + i) % 1000})`);
    await execute(url, token, `INSERT INTO accounts VALUES ${rows.join(", ")}`);
  }
}

function execute(url: string, token: string, sql: string): Promise<unknown> {
  return post(`${url}/v1/query/execute`, { sql }, token);
}

/** Numbers in [0, 1) that are the same in each run. Mulberry32, by Tommy Ettinger (public domain). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
