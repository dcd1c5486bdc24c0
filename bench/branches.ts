/**
 * Branches of a tenant: what a fork costs at several sizes, reads and writes in a branch and in its origin beside a
 * tenant that has none, the past beside the present while others write, a merge, and very many branches. All tenants
 * are on one actor. Each work runs in turns, and the report has medians.
 *
 * SIZES (rows, "1000 1000000"), FORKED (rows that are only forked, "5000000"), BRANCHES (1000) of one tenant, CHANGES
 * (10000) that are merged.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BranchServer, type Place } from "./branches/branch-server.js";
import { tenantToken } from "./fairness.js";
import { settledMemoryOf } from "./processes.js";
import { endChild, launchTessera, removeDirectory, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";

const BRANCHES = Number(process.env.BRANCHES ?? 1000);
const CHANGES = Number(process.env.CHANGES ?? 10_000);
const FORKS = 5;
const POINT_READS = 500;
const POINT_WRITES = 200;
const ROWS_AT_ONCE = 10_000;
const LANES = 8;
const FILL_AT_ONCE = 100_000;
const LOOK_MS = 500;
/** Looks at the files that have to find the same, and looks at most. */
const SETTLED_LOOKS = 20;
const SETTLED_WITHIN = 240;

export async function branches(rounds: number): Promise<void> {
  const sizes = sizesOf("SIZES", "1000 1000000");
  const forked = sizesOf("FORKED", "5000000");
  for (const rows of sizes) {
    console.log(`\n${rows} rows`);
    await withServer(async (server, alone) => {
      for (const place of [alone, server.origin]) await fill(server, place, rows);
      await forks(server);
      await besideNone(server, alone, rows, rounds);
      await merge(server, rows);
      await past(server, rows, rounds);
      if (rows === sizes[0]) await many(server, rows);
    });
  }
  for (const rows of forked) {
    console.log(`\n${rows} rows`);
    await withServer(async (server) => {
      await fill(server, server.origin, rows);
      await forks(server);
    });
  }
}

function sizesOf(name: string, usual: string): readonly number[] {
  const sizes = (process.env[name] ?? usual)
    .split(/[ ,]+/)
    .filter((word) => word !== "")
    .map(Number);
  if (sizes.some((rows) => !(rows >= 1000))) throw new Error(`${name}: numbers of rows, 1000 or more`);
  return sizes;
}

/** Two tenants: one that is forked, and one that is left alone. */
async function withServer(work: (server: BranchServer, alone: Place) => Promise<void>): Promise<void> {
  const folder = temporaryDirectory("branches");
  const { child, url } = await launchTessera(folder, { TESSERA_ACTORS: "1" });
  const server = await BranchServer.of(url, child.pid!, folder);
  const alone = { name: "no branches", token: await tenantToken(server.origin, "alone"), branch: null };
  await work(server, alone);
  await endChild(child);
  removeDirectory(folder);
}

async function fill(server: BranchServer, place: Place, rows: number): Promise<void> {
  await server.sql(place, "CREATE TABLE item (id bigint PRIMARY KEY, a integer, n double precision, name text)");
  for (let from = 1; from <= rows; from += FILL_AT_ONCE) {
    const to = Math.min(rows, from + FILL_AT_ONCE - 1);
    const values = "i, i % 100, i / 7.0, 'the name of item ' || i";
    await server.sql(place, `INSERT INTO item SELECT ${values} FROM generate_series(${from}, ${to}) i`);
  }
  await settledMemoryOf([server.pid]);
}

async function forks(server: BranchServer): Promise<void> {
  const bytes = await settledBytesIn(server.folder);
  const memory = await settledMemoryOf([server.pid]);
  const times: number[] = [];
  for (let i = 0; i < FORKS; i++) times.push((await server.timed(() => server.fork(`fork${i}`))).wallMs);
  const [first, rest] = [times[0]!, median(times.slice(1))];
  const [more, grown] = [(await settledBytesIn(server.folder)) - bytes, (await settledMemoryOf([server.pid])) - memory];
  line("fork", `first ${ms(first)}, then ${ms(rest)}; ${FORKS} forks: ${kib(more)} of disk, ${kib(grown)} of memory`);
  for (let i = 0; i < FORKS; i++) await server.request(server.origin, "DELETE", `/v1/branches/fork${i}`);
}

/** Every place in turn; its share is the time without branches divided by its own. */
async function besideNone(server: BranchServer, alone: Place, rows: number, rounds: number): Promise<void> {
  const branch = await server.fork("work");
  const places = [alone, server.origin, branch];
  const update = (place: Place, step: number) =>
    server.sql(place, "UPDATE item SET n = n + 1 WHERE id > $1 AND id <= $1 + 1000", [(step * 1000) % rows]);
  // The branch's origin has changed the same rows, and so the branch has them in two places.
  const before: Readonly<Record<string, (place: Place, round: number) => Promise<unknown>>> = {
    "UPDATE of rows just updated": (place, round) => update(place === branch ? server.origin : place, round),
  };
  const works: Readonly<Record<string, (place: Place, round: number) => Promise<unknown>>> = {
    [`${POINT_READS} point reads`]: (place) =>
      lanes(POINT_READS, (i) => server.sql(place, "SELECT name FROM item WHERE id = $1", [1 + ((i * 7919) % rows)])),
    "GROUP BY": (place) => server.sql(place, "SELECT a, count(*), sum(n) FROM item GROUP BY a"),
    "1,000 rows by key": (place, round) =>
      server.sql(place, "SELECT * FROM item WHERE id > $1 ORDER BY id LIMIT 1000", [(round * 7919) % rows]),
    [`${POINT_WRITES} updates by key`]: (place, round) =>
      lanes(POINT_WRITES, (i) =>
        server.sql(place, "UPDATE item SET n = n + 1 WHERE id = $1", [1 + (((i + round * POINT_WRITES) * 31) % rows)]),
      ),
    [`INSERT of ${ROWS_AT_ONCE}`]: (place, round) => {
      const from = rows + round * ROWS_AT_ONCE;
      const values = "i, 1, 0, 'new ' || i";
      const series = `generate_series(${from + 1}, ${from + ROWS_AT_ONCE})`;
      return server.sql(place, `INSERT INTO item SELECT ${values} FROM ${series} i`);
    },
    "UPDATE of 1,000": (place, round) => update(place, round * places.length + places.indexOf(place)),
    "UPDATE of rows just updated": (place, round) => update(place, round),
  };
  for (const [name, work] of Object.entries(works)) {
    const found = places.map((): { wall: number[]; cpu: number[] } => ({ wall: [], cpu: [] }));
    for (let round = 0; round <= rounds; round++) {
      // Another one is the first each time.
      for (let turn = 0; turn < places.length; turn++) {
        const i = (turn + round) % places.length;
        await before[name]?.(places[i]!, round);
        // What was left to do is not charged to this one.
        await server.idle();
        const { wallMs, cpuMs } = await server.timed(() => work(places[i]!, round));
        if (round === 0) continue; // warms up
        found[i]!.wall.push(wallMs);
        found[i]!.cpu.push(cpuMs);
      }
    }
    const walls = found.map(({ wall }) => median(wall));
    const told = places.map(({ name }, i) => {
      const share = i === 0 ? "" : ` (${(walls[0]! / walls[i]!).toFixed(2)})`;
      return `${name} ${ms(walls[i]!)}${share}, CPU ${ms(median(found[i]!.cpu))}`;
    });
    line(name, told.join("; "));
  }
  const expected = rows + (rounds + 1) * ROWS_AT_ONCE;
  for (const place of places) {
    const { rows: found } = (await server.sql(place, "SELECT count(*) FROM item")) as { rows: unknown[][] };
    if (Number(found[0]![0]) !== expected) throw new Error(`${place.name} has ${found[0]![0]} rows, not ${expected}`);
  }
  await server.request(server.origin, "DELETE", "/v1/branches/work");
}

/** Eight in ten changes are updates, one is an insert, one a deletion. */
async function merge(server: BranchServer, rows: number): Promise<void> {
  const branch = await server.fork("merged");
  const changes = Math.min(CHANGES, rows);
  const tenth = Math.floor(changes / 10);
  await server.sql(branch, `DELETE FROM item WHERE id <= ${tenth}`);
  await server.sql(branch, `UPDATE item SET name = 'changed' WHERE id > ${tenth} AND id <= ${9 * tenth}`);
  const series = `generate_series(1, ${tenth})`;
  await server.sql(branch, `INSERT INTO item SELECT 1000000000 + i, 1, 0, 'new' FROM ${series} i`);
  const steps: [string, () => Promise<unknown>][] = [
    ["diff", () => server.request(server.origin, "GET", "/v1/branches/merged/diff")],
    ["merge, dry run", () => server.request(server.origin, "POST", "/v1/branches/merged/merge", { dry_run: true })],
    ["merge", () => server.request(server.origin, "POST", "/v1/branches/merged/merge", {})],
    ["merge again", () => server.request(server.origin, "POST", "/v1/branches/merged/merge", {})],
    ["deletion", () => server.request(server.origin, "DELETE", "/v1/branches/merged")],
  ];
  for (const [name, step] of steps) {
    const { wallMs, cpuMs } = await server.timed(step);
    line(`${name} of ${10 * tenth} changes`, `${ms(wallMs)}, CPU ${ms(cpuMs)}`);
  }
}

/** The state before `CHANGES` single updates beside the present state, while another client updates rows. */
async function past(server: BranchServer, rows: number, rounds: number): Promise<void> {
  const { origin } = server;
  await server.request(origin, "PUT", "/v1/history", { window_seconds: 86_400 });
  const { newest } = (await server.request(origin, "GET", "/v1/history")) as { newest: { sequence: number } };
  await lanes(CHANGES, (i) =>
    server.sql(origin, "UPDATE item SET n = n + 1 WHERE id = $1", [rows - ((i * 7919) % (rows >> 1))]),
  );
  const load = { ends: false };
  const loading = (async () => {
    for (let i = 0; !load.ends; i++)
      await server.sql(origin, "UPDATE item SET a = 7 WHERE id = $1", [rows - (i % (rows >> 1))]);
  })();
  const reads: Readonly<Record<string, string>> = {
    "point read": `SELECT name FROM item WHERE id = ${rows}`,
    "GROUP BY": "SELECT a, count(*), sum(n) FROM item GROUP BY a",
  };
  for (const [name, read] of Object.entries(reads)) {
    const [now, then]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds * 5; round++) {
      now.push((await server.timed(() => server.sql(origin, read))).wallMs);
      then.push((await server.timed(() => server.sql(origin, `${read} AS OF SEQUENCE ${newest.sequence}`))).wallMs);
    }
    line(`${name}, AS OF`, `${CHANGES} commits back ${ms(median(then))}, now ${ms(median(now))}, with a writer beside`);
  }
  load.ends = true;
  await loading;
}

async function many(server: BranchServer, rows: number): Promise<void> {
  const before = await settledMemoryOf([server.pid]);
  const forked = await server.timed(async () => {
    for (let i = 0; i < BRANCHES; i++) await server.fork(`many${i}`);
  });
  const idle = (await settledMemoryOf([server.pid])) - before;
  const places = Array.from({ length: BRANCHES }, (_, i) => server.place(`many${i}`));
  const used = await server.timed(async () => {
    for (const place of places) await server.sql(place, "UPDATE item SET n = 0 WHERE id = $1", [rows]);
  });
  const busy = (await settledMemoryOf([server.pid])) - before;
  const read = await server.timed(() =>
    lanes(POINT_READS, () => server.sql(server.origin, "SELECT name FROM item WHERE id = $1", [rows])),
  );
  const ended = await server.timed(async () => {
    for (const { branch } of places) await server.request(server.origin, "DELETE", `/v1/branches/${branch}`);
  });
  line(`${BRANCHES} branches`, `${ms(forked.wallMs / BRANCHES)} a fork, ${kib(idle / BRANCHES)} of memory each`);
  line("  one write in each", `${ms(used.wallMs / BRANCHES)}, ${kib(busy / BRANCHES)} of memory each since the forks`);
  line(`  ${POINT_READS} point reads of origin`, ms(read.wallMs));
  line("  deletion of each", ms(ended.wallMs / BRANCHES));
}

async function lanes(count: number, step: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await step(next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** When RocksDB has merged its files and the log was trimmed: they have not changed for some seconds. */
async function settledBytesIn(folder: string): Promise<number> {
  for (let last = -1, same = 0, i = 0; i < SETTLED_WITHIN; i++) {
    const bytes = bytesIn(folder);
    same = bytes === last ? same + 1 : 0;
    if (same === SETTLED_LOOKS) return bytes;
    last = bytes;
    await sleep(LOOK_MS);
  }
  throw new Error(`the files in ${folder} did not settle`);
}

function bytesIn(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    // A file may go while we look.
    if (entry.isFile()) sum += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return sum;
}

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const kib = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`;
const line = (name: string, text: string): void => console.log(`  ${name.padEnd(28)} ${text}`);
