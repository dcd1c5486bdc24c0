/**
 * The client for TypeScript beside what it is made of: round trips beside a bare fetch, and ROWS (1,000,000) rows
 * streamed beside a WebSocket and a body of HTTP that are read by hand. CPU time of this process, in turns, the median
 * of the rounds.
 */
import { WebSocket } from "ws";
import { connect } from "../clients/typescript/src/index.js";
import { post, type Running, startTessera } from "./servers.js";

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const TRIPS = Number(process.env.TRIPS ?? 3_000);
const QUERY = "SELECT name FROM city WHERE id = $1";
const ALL = "SELECT * FROM stream";

type Work = () => Promise<void>;

export async function client(rounds: number): Promise<void> {
  const server = await startTessera({ TESSERA_ACTORS: "1", TESSERA_WEBSOCKET_READ_TIMEOUT: "60" });
  const { url, token } = server;
  const sql = (text: string) => post(`${url}/v1/query/execute`, { sql: text }, token);
  await sql("CREATE TABLE city AS SELECT i AS id, 'city ' || i AS name FROM generate_series(1, 100) i");
  await sql("CREATE INDEX ON city (id)");
  await sql("CREATE TABLE stream (id integer PRIMARY KEY, price double precision, ok boolean, name text)");
  for (let from = 1; from <= ROWS; from += 100_000) {
    const to = Math.min(ROWS, from + 99_999);
    await sql(`INSERT INTO stream SELECT i, i / 7.0, i % 2 = 0, 'name ' || i FROM generate_series(${from}, ${to}) i`);
  }
  const db = connect({ url, apiKey: token, WebSocket: WebSocket as never });
  const trip = (key: string | undefined) => () =>
    times(async (i) => void (await db.query(QUERY, [i], key === undefined ? {} : { idempotencyKey: key })));
  await compare(rounds, `${TRIPS} round trips, 8 at a time`, {
    "bare fetch": () => times((i) => bare(server, i, {})),
    "client, no key": trip(""),
    "bare fetch, key": () => times((i) => bare(server, i, { "idempotency-key": crypto.randomUUID() })),
    client: trip(undefined),
  });
  const options = { over: "websocket" } as const;
  await compare(rounds, `${ROWS} rows`, {
    "WebSocket, parsed": () => rawSocket(server),
    "stream, WebSocket": async () => counted(db.stream(ALL, [], options)),
    "HTTP, parsed": () => rawBody(server),
    "stream, HTTP": async () => counted(db.stream(ALL)),
  });
  await server.stop();
}

/** Work after work, in turns; the others are told in relation to the one before them that is bare. */
async function compare(rounds: number, title: string, works: Readonly<Record<string, Work>>): Promise<void> {
  const found = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  const walls = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, work] of Object.entries(works)) {
      const [cpu, wall] = [process.cpuUsage(), performance.now()];
      await work();
      const { user, system } = process.cpuUsage(cpu);
      if (round === 0) continue; // warms up
      found.get(name)!.push((user + system) / 1e6);
      walls.get(name)!.push((performance.now() - wall) / 1e3);
    }
  }
  console.log(title);
  let base = [0, 0];
  for (const [i, name] of Object.keys(works).entries()) {
    const [cpu, wall] = [median(found.get(name)!), median(walls.get(name)!)];
    if (i % 2 === 0) base = [cpu, wall];
    const ratio =
      i % 2 === 0 ? "" : `, ${(base[0]! / cpu).toFixed(2)} by CPU and ${(base[1]! / wall).toFixed(2)} by the clock`;
    console.log(`  ${name.padEnd(18)} CPU ${cpu.toFixed(2)} s, clock ${wall.toFixed(2)} s${ratio}`);
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

async function times(trip: (id: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < TRIPS) await trip((next++ % 100) + 1);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

async function bare({ url, token }: Running, id: number, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(`${url}/v1/query/execute`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ sql: QUERY, parameters: [id] }),
  });
  const { data } = (await response.json()) as { data: { rows: unknown[][] } };
  if (data.rows.length !== 1) throw new Error("not one row");
}

async function counted(rows: AsyncIterable<unknown>): Promise<void> {
  let count = 0;
  for await (const _row of rows) count++;
  if (count !== ROWS) throw new Error(`${count} rows`);
}

async function rawSocket({ url, token }: Running): Promise<void> {
  const { data } = (await post(`${url}/v1/ws/ticket`, {}, token)) as { data: { token: string } };
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws?token=${encodeURIComponent(data.token)}`);
  let count = 0;
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () =>
      socket.send(JSON.stringify({ type: "sql.execute.stream", id: 1, sql: ALL, max_rows: ROWS, credits: 4 })),
    );
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; rows?: unknown[] };
      if (message.type === "sql.rows") {
        count += message.rows!.length;
        socket.send(JSON.stringify({ type: "credit", id: 1, messages: 1 }));
      } else if (message.type !== "sql.columns") resolve();
    });
  });
  socket.close();
  if (count !== ROWS) throw new Error(`${count} rows`);
}

async function rawBody({ url, token }: Running): Promise<void> {
  const response = await fetch(`${url}/v1/query/execute`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ sql: ALL, max_rows: ROWS }),
  });
  const decoder = new TextDecoder();
  let [rest, count] = ["", 0];
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    const text = rest + decoder.decode(piece, { stream: true });
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      rest = text;
      continue;
    }
    count += (JSON.parse(`[${text.slice(0, end).replaceAll("\n", ",")}]`) as unknown[]).length;
    rest = text.slice(end + 1);
  }
  if (count !== ROWS + 2) throw new Error(`${count} lines`);
}
