/**
 * What a row policy costs, on one server with one actor: point reads of a table whose policy lets all of its rows
 * through, and the ten nearest of VECTORS (20,000) vectors of 128 numbers in a table whose policy hides 99 % of them.
 * Two users of one tenant ask, neither of them an owner: policies do not apply to one (BYPASSRLS), and do to the other.
 * They take turns. Recall is that of an exact search over the rows that the user may see.
 */
import { join } from "node:path";
import { loadAccounts } from "./fairness.js";
import { loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, jsonRequest, type Request, writeRequests } from "./load/requests.js";
import { post, type Running, removeDirectory, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import { clusteredVectors, nearestByCosine, type VectorData, vectorJson } from "./vector/data.js";
import { pointReads } from "./workloads/w1-point-read.js";

const VECTORS = Number(process.env.VECTORS ?? 20_000);
const DIMENSIONS = 128;
const QUERIES = 500;
const RECALL_QUERIES = 100;
const K = 10;
/** One row of so many is seen. */
const SEEN_OF = 100;
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 4;
const ROWS_AT_ONCE = 500;
const PASSWORD = "a password of a bench";
const SEARCH = `SELECT id FROM item ORDER BY v <=> $1 LIMIT ${K}`;

/** `bypass` first: the others are compared with it. */
const USERS = ["bypass", "own"] as const;
type User = (typeof USERS)[number];

type Tokens = Readonly<Record<User | "boss", string>>;

export async function policy(rounds: number, seconds: number): Promise<void> {
  const server = await startTessera({ TESSERA_ACTORS: "1" });
  const directory = temporaryDirectory("policy");
  const data = clusteredVectors(VECTORS, QUERIES, DIMENSIONS);
  try {
    const tokens = await makeUsers(server);
    await fill(server, tokens.boss, data);
    for (const user of USERS)
      console.log(`${user}: recall@${K} ${(await recall(server, tokens, user, data)).toFixed(4)}`);
    const works: Readonly<Record<string, (token: string) => readonly Request[]>> = {
      "point reads": (token) => pointReads({ isPeer: false, token }),
      "vector searches": (token) =>
        data.queries.map((query) => {
          const body = JSON.stringify({ sql: SEARCH, parameters: [vectorJson(query)] });
          return jsonRequest("/v1/query/execute", token, body);
        }),
    };
    for (const [name, requestsOf] of Object.entries(works)) {
      const files = USERS.map((user, i) => {
        const file = join(directory, `${name.replaceAll(" ", "-")}-${i}`);
        writeRequests(file, server.url, requestsOf(tokens[user]), true);
        return file;
      });
      print(name, await inTurns(server, files, rounds, seconds));
    }
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
}

async function makeUsers({ url, token }: Running): Promise<Tokens> {
  await post(`${url}/admin/tenants`, { id: "policy" }, token);
  const tokens: Partial<Record<keyof Tokens, string>> = {};
  for (const username of ["boss", ...USERS] as const) {
    const roles = [username === "boss" ? "admin" : "user"];
    await post(`${url}/admin/tenants/policy/users`, { username, password: PASSWORD, roles }, token);
    const answer = await post(`${url}/v1/auth/login`, { username, password: PASSWORD }, null);
    tokens[username] = answer.access_token as string;
  }
  return tokens as Tokens;
}

const execute = ({ url }: Running, token: string, sql: string, parameters: readonly unknown[] = []) =>
  post(`${url}/v1/query/execute`, { sql, parameters }, token);

async function fill(server: Running, token: string, { vectors }: VectorData): Promise<void> {
  const run = (sql: string, parameters?: readonly unknown[]) => execute(server, token, sql, parameters);
  await loadAccounts({ url: server.url, token });
  await run("ALTER TABLE accounts ADD COLUMN owner text");
  await run("UPDATE accounts SET owner = 'own'");
  await run(`CREATE TABLE item (id int PRIMARY KEY, owner text, v vector(${DIMENSIONS}))`);
  await run("CREATE INDEX ON item USING hnsw (v)");
  for (let from = 0; from < vectors.length; from += ROWS_AT_ONCE) {
    const part = vectors.slice(from, from + ROWS_AT_ONCE);
    const rows = part.map((_, i) => `(${from + i}, '${isSeen(from + i) ? "own" : "other"}', $${i + 1})`);
    await run(`INSERT INTO item VALUES ${rows.join(", ")}`, part.map(vectorJson));
  }
  await run(`CREATE USER ${USERS[0]} BYPASSRLS`);
  for (const table of ["accounts", "item"]) {
    await run(`REVOKE ALL ON ${table} FROM member`);
    await run(`GRANT SELECT ON ${table} TO member`);
    await run(`CREATE POLICY own ON ${table} USING (owner = current_user)`);
    await run(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
  }
  await run("ANALYZE accounts, item");
}

const isSeen = (index: number): boolean => index % SEEN_OF === 0;

async function recall(server: Running, tokens: Tokens, user: User, { vectors, queries }: VectorData): Promise<number> {
  let hits = 0;
  for (const query of queries.slice(0, RECALL_QUERIES)) {
    const near = nearestByCosine(vectors, query, K, user === "own" ? isSeen : undefined);
    const answer = await execute(server, tokens[user], SEARCH, [vectorJson(query)]);
    const { rows } = answer.data as { rows: readonly (readonly unknown[])[] };
    if (rows.length !== K) throw new Error(`${user}: ${rows.length} rows, not ${K}`);
    hits += rows.filter(([id]) => near.has(String(id))).length;
  }
  return hits / (K * RECALL_QUERIES);
}

/** Requests per CPU second of the server, by file and round. Another file is the first each time. */
async function inTurns(server: Running, files: readonly string[], rounds: number, seconds: number) {
  const generator = loadGenerator();
  const found = files.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < files.length; turn++) {
      const i = (turn + Math.max(0, round)) % files.length;
      const shared = {
        url: server.url,
        file: files[i]!,
        firstKey: FIRST_KEY,
        connections: CONNECTIONS,
        keepAlive: true,
      };
      const before = server.cpuSeconds();
      const done = await throughput({ ...shared, seconds: round < 0 ? WARM_UP_SECONDS : seconds }, generator);
      if (done.errors > 0) throw new Error(`${done.errors} answers were errors`);
      if (round >= 0) found[i]!.push(done.requests / (server.cpuSeconds() - before));
    }
  }
  return found;
}

/** The share is the median of the rounds' shares. */
function print(name: string, found: readonly (readonly number[])[]): void {
  found.forEach((rates, i) => {
    const share = median(rates.map((rate, round) => rate / found[0]![round]!)).toFixed(2);
    const each = rates.map((rate) => rate.toFixed(0)).join(" ");
    const rate = median(rates).toFixed(0).padStart(7);
    console.log(`${name.padEnd(16)} ${USERS[i]!.padEnd(7)} ${rate} per CPU second (${each}), ${share} of without`);
  });
}
