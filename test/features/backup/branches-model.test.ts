/**
 * Branches in backups against a model: seeds decide what is written in a tenant and its branches, forked from the
 * present or the past, and deleted, between any two steps of a backup. What is restored, whole or up to a moment, has
 * the branches as they were then, each over the rows that it began with.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import t, { type Test } from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { BackupFolder, type Manifest } from "../../../src/backup/backup-folder.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { Backups } from "../../../src/features/backup/backups.js";
import { Restores } from "../../../src/features/backup/restores.js";
import { endBranch } from "../../../src/features/branches/branch-life.js";
import { takeNumber } from "../../../src/features/branches/make-branch.js";
import { JOBS } from "../../../src/features/jobs/jobs.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { RestoreReport } from "../../../src/protocol/placement.js";
import { NO_ORIGIN } from "../../../src/storage/branch-list.js";
import { branchKey } from "../../../src/storage/history-keys.js";
import { placeKey, prefixRange, rowPrefix } from "../../../src/storage/keys.js";
import { LayeredEngine } from "../../../src/storage/layered-engine.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import type { MergePoints } from "../../../src/storage/merge-points.js";
import type { CommitStamp } from "../../../src/storage/operation.js";
import { Shard } from "../../../src/storage/shard.js";
import type { Cursor } from "../../../src/storage/store.js";
import { sized } from "../../lengths.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

t.setTimeout(600_000);

const CONFIG = loadConfig({ env: {} });
const TENANT = 7;
const TARGET = 9;
const SEEDS = Number(process.env.BACKUP_SEEDS ?? sized(1, 12));
const ROWS = 60;
const PLACES_MAX = 7;

const NEVER = { forkedAt: 0, endedAt: Number.POSITIVE_INFINITY };

type Content = ReadonlyMap<string, string>;

/** The tenant, or a branch. */
interface Place {
  readonly number: number;
  readonly origin: string;
  readonly base: Content;
  readonly isOfPast: boolean;
  readonly forkedAt: number;
  endedAt: number;
  content: Content;
  /** What it had when it was merged last: everything, with definitions, and some tables since. */
  points: Points;
  /** After its commits. */
  readonly past: { readonly sequence: number; readonly micros: number; readonly content: Content }[];
}

interface Points {
  readonly all: Content | null;
  readonly definitions: Content | null;
  readonly table: Content | null;
}

const NO_POINTS: Points = { all: null, definitions: null, table: null };

/** The origin of a branch that begins empty. */
const NOWHERE = "nowhere";
const EMPTY: Place = {
  ...{ number: NO_ORIGIN, origin: "", base: new Map(), ...NEVER, isOfPast: false, content: new Map(), past: [] },
  points: NO_POINTS,
};

/** By names of places; the tenant's is "". */
type State = ReadonlyMap<string, { readonly place: Place; readonly content: Content; readonly points: Points }>;

class World {
  readonly root = mkdtempSync(join(tmpdir(), "tessera-branches-model-"));
  readonly folder = new BackupFolder(this.root);
  readonly places = new Map<string, Place>([["", { ...EMPTY, number: TENANT, past: [] }]]);
  readonly history: { readonly micros: number; readonly state: State }[] = [];
  readonly backups: Backups;
  refused = 0;
  /** Nobody writes while a backup is made. */
  isQuiet = false;
  /** How the backup that was ordered last is. */
  ordered = "";
  private names = 0;

  constructor(
    readonly partition: Partition,
    private readonly random: SeededRandom,
  ) {
    const yieldTurn = async (): Promise<void> => {
      if (!this.isQuiet) for (let n = random.between(0, 4); n > 0; n--) this.step();
      await turn();
    };
    this.backups = new Backups({
      scheduler: { shouldYield: () => random.chance(0.5), yieldTurn },
      folders: { tenant: this.folder, whole: this.folder },
      report: ({ state }) => (this.ordered = state),
      log: () => undefined,
    });
  }

  step(): void {
    const { random } = this;
    const names = [...this.places.keys()];
    const name = random.pick(names);
    const what = random.next();
    if (what < 0.03 && names.length < PLACES_MAX) this.fork(null);
    else if (what < 0.1 && names.length < PLACES_MAX) this.fork(name);
    else if (what < 0.15 && name !== "") this.end(name);
    else if (what < 0.22 && name !== "" && this.places.get(name)!.origin !== NOWHERE) this.merge(name);
    else this.write(name);
  }

  write(name: string): void {
    const { random, partition } = this;
    const place = this.places.get(name)!;
    const content = new Map(place.content);
    const tx = partition.shard.begin({ isolation: "read committed" });
    for (let n = random.between(1, 5); n > 0; n--) {
      const row = String(random.between(0, ROWS));
      const key = Buffer.concat([rowPrefix(place.number, 1), Buffer.from(row)]);
      if (random.chance(0.35)) {
        tx.delete(key);
        content.delete(row);
      } else {
        const value = `${random.next()}`;
        tx.put(key, Buffer.from(value));
        content.set(row, value);
      }
    }
    const sequence = tx.commit();
    place.content = content;
    this.committed(sequence, place);
  }

  /** As the commit of a merge notes it in the branch's record. */
  private merge(name: string): void {
    const { random, partition } = this;
    const place = this.places.get(name)!;
    const tables = random.chance(0.4) ? [1] : null;
    const merged = { tables, definitions: tables === null && random.chance(0.4) };
    const tx = partition.shard.begin({ isolation: "read committed" });
    const stored = JSON.parse(Buffer.from(tx.get(branchKey(place.number))!).toString());
    const { start } = partition.shard.layers!.branchOf(place.number)!;
    tx.put(branchKey(place.number), Buffer.from(JSON.stringify({ ...stored, start, merged })));
    const { content, points } = place;
    if (tables !== null) place.points = { ...points, table: content };
    else place.points = { all: content, definitions: merged.definitions ? content : points.definitions, table: null };
    this.committed(tx.commit(), place);
  }

  /** Null: it begins empty. */
  private fork(from: string | null): void {
    const { random, partition } = this;
    const origin = from === null ? EMPTY : this.places.get(from)!;
    const oldest = partition.shard.layers!.oldestOf(origin.number);
    const readable = oldest === null ? [] : origin.past.filter(({ sequence }) => sequence >= oldest.sequence);
    const start = readable.length > 0 && random.chance(0.4) ? random.pick(readable) : null;
    const tx = partition.shard.begin({ isolation: "read committed" });
    const number = takeNumber(tx, 0);
    const name = `b${++this.names}`;
    const record = {
      ...{ origin: origin.number, root: TENANT, name, createdAt: "then", createdBy: "ann", expiresAtMs: null },
      start: start === null ? null : { sequence: start.sequence, micros: start.micros },
    };
    tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
    const base = start?.content ?? origin.content;
    const place = {
      number,
      origin: from ?? NOWHERE,
      base,
      ...NEVER,
      isOfPast: start !== null,
      content: base,
      points: NO_POINTS,
      past: [],
    };
    this.places.set(name, place);
    this.committed(tx.commit(), place);
    this.places.set(name, Object.assign(place, { forkedAt: this.history.at(-1)!.micros }));
  }

  private end(name: string): void {
    const { number } = this.places.get(name)!;
    if ([...this.places.values()].some(({ origin }) => origin === name)) return;
    try {
      endBranch(this.partition, number);
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== "conflict") throw error;
      this.refused++;
      return;
    }
    const place = this.places.get(name)!;
    this.places.delete(name);
    this.committed(this.partition.shard.committedSequence, null);
    place.endedAt = this.history.at(-1)!.micros;
  }

  private committed(sequence: number, place: Place | null): void {
    this.partition.flush(() => undefined);
    for (const entry of this.partition.shard.log.replay(sequence)) {
      if (entry.sequence !== sequence) continue;
      const { micros } = entry;
      place?.past.push({ sequence, micros, content: place.content });
      const shown = [...this.places].map(
        ([name, each]) => [name, { place: each, content: each.content, points: each.points }] as const,
      );
      this.history.push({ micros, state: new Map(shown) });
    }
  }

  at(micros: number): State {
    return this.history.findLast((one) => one.micros <= micros)!.state;
  }

  async backUp(incremental: boolean): Promise<Manifest> {
    const options = { incremental, passphrase: null, name: null };
    const { id } = await this.backups.start(this.partition, "acme", TENANT, options);
    for (;;) {
      const { status, error } = this.backups.get("acme", id);
      if (status === "failed") throw new Error(JSON.stringify(error));
      if (status === "completed") return this.folder.get("acme", id);
      await turn();
    }
  }
}

async function openPartition(): Promise<Partition> {
  let partition: Partition | null = null;
  const layers = new LayeredEngine(new MemoryEngine());
  const shard = await Shard.open({
    ...{ engine: layers, layers, log: new MemoryCommitLog() },
    onDurable: (sequence) => partition?.gate.open(sequence),
  });
  partition = new Partition(0, shard, CONFIG, () => setImmediate(() => partition!.flush(() => undefined)));
  partition.part(JOBS).queue.begin([], () => undefined);
  return partition;
}

async function restore(
  partition: Partition,
  world: World,
  backup: string,
  untilMicros: number | null,
  closesAfter: number | null = null,
  isNew = false,
): Promise<RestoreReport> {
  let turns = 0;
  return new Promise<RestoreReport>((resolve) => {
    const restores = new Restores({
      scheduler: {
        yieldTurn: () => {
          if (turns++ === closesAfter) void restores.close();
          return turn();
        },
      },
      folders: { tenant: world.folder, whole: world.folder },
      running: () => [],
      report: (report) => {
        if (report.state === "completed" || report.state === "failed") resolve(report);
      },
      failed: () => undefined,
    });
    restores.start(partition, {
      ...{ tenant: TARGET, restore: "r", backup, from: "acme", store: "tenant", passphrase: null, untilMicros },
      ...{ replaces: true, isChecked: false, isNew },
    });
  });
}

const sorted = (content: Content) => [...content].sort(([a], [b]) => (a < b ? -1 : 1));

function rowsOf(scan: (range: ReturnType<typeof prefixRange>) => Cursor, tenant: number) {
  const prefix = rowPrefix(tenant, 1);
  const found: [string, string][] = [];
  const cursor = scan(prefixRange(prefix));
  const { keys, values } = cursor.next(10 * ROWS);
  for (const [i, key] of keys.entries())
    found.push([Buffer.from(key.subarray(prefix.length)).toString(), Buffer.from(values[i]!).toString()]);
  cursor.close();
  return sorted(new Map(found));
}

const shownPoints = ({ all, definitions, table }: Points) =>
  [all, definitions, table].map((content) => (content === null ? null : sorted(content)));

/** As `expected` shows it. */
function stateOf({ shard }: Partition) {
  const layers = shard.layers!;
  const tx = shard.begin({ readOnly: true });
  const tenant = {
    name: "",
    origin: "",
    base: [] as [string, string][],
    rows: rowsOf((range) => tx.scan(range), TARGET),
    merged: shownPoints(NO_POINTS),
  };
  const rowsAt = (tenant: number, at: CommitStamp | null | undefined) =>
    at == null ? null : new Map(rowsOf((range) => layers.asOf(at.sequence).cursor(range), tenant));
  const pointsOf = (number: number, { all, definitions, tables }: MergePoints) =>
    shownPoints({
      all: rowsAt(number, all),
      definitions: rowsAt(number, definitions),
      table: rowsAt(number, tables.get(1)),
    });
  const branches = layers.branchesUnder(TARGET).map(([number, { name, origin, start, merges }]) => ({
    name,
    origin: origin === NO_ORIGIN ? NOWHERE : (layers.branchOf(origin)?.name ?? ""),
    base: origin === NO_ORIGIN ? [] : rowsOf((range) => layers.asOf(start.sequence).cursor(range), origin),
    rows: rowsOf((range) => tx.scan(range), number),
    merged: pointsOf(number, merges),
  }));
  tx.rollback();
  return [tenant, ...branches].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A fork of the past that has ended before the next backup is in none. */
function isIn(chain: readonly Manifest[], state: State, name: string): boolean {
  if (name === NOWHERE) return true;
  const { origin, isOfPast, forkedAt, endedAt } = state.get(name)!.place;
  if (name === "") return true;
  const { micros } = chain.find((one) => one.micros >= forkedAt)!;
  return !(isOfPast && endedAt <= micros) && isIn(chain, state, origin);
}

function expected(state: State, chain: readonly Manifest[]) {
  return [...state]
    .filter(([name]) => isIn(chain, state, name))
    .map(([name, { place, content, points }]) => ({ name, place, content, points }))
    .map(({ name, place: { origin, base }, content, points }) => ({
      ...{ name, origin, base: sorted(base), rows: sorted(content), merged: shownPoints(points) },
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

for (let seed = 1; seed <= SEEDS; seed++) {
  t.test(`seed ${seed}`, async (t) => {
    const random = new SeededRandom(seed);
    const world = new World(await openPartition(), random);
    t.teardown(() => rmSync(world.root, { recursive: true }));
    for (let i = 0; i < 60; i++) world.step();
    const made: Manifest[] = [];
    for (let round = 0; round < 4; round++) {
      made.push(await world.backUp(round > 0 && random.chance(0.7)));
      for (let i = 0; i < 15; i++) world.step();
    }
    for (const manifest of made) {
      const { id, micros, kind } = manifest;
      const partition = await openPartition();
      const ended = await restore(partition, world, id, null);
      t.match(ended, { state: "completed", error: null, verified: true }, `${kind}`);
      t.strictSame(
        stateOf(partition),
        expected(world.at(micros), world.folder.chainOf(manifest)),
        `${kind}: the moment that it names`,
      );
    }
    const last = made.findLast(({ kind }) => kind === "incremental");
    const first = last === undefined ? null : world.folder.chainOf(last)[0]!;
    for (const { micros, state } of world.history) {
      if (first === null || micros < first.micros || micros > last!.micros || !random.chance(0.05)) continue;
      const partition = await openPartition();
      t.match(await restore(partition, world, last!.id, micros), { state: "completed", error: null });
      t.strictSame(stateOf(partition), expected(state, world.folder.chainOf(last!)), "a moment between two backups");
    }
  });
}

/** A world with branches and a full backup of it, their names, and an empty partition with the names that it has. */
async function withBackup(t: Test) {
  const world = new World(await openPartition(), new SeededRandom(4));
  t.teardown(() => rmSync(world.root, { recursive: true }));
  while (world.places.size < 5) world.step();
  const { id, micros } = await world.backUp(false);
  const names = [...world.at(micros).keys()].filter((name) => name !== "").sort();
  const partition = await openPartition();
  const found = () => partition.shard.layers!.branchesUnder(TARGET).map(([, { name }]) => name);
  return { world, id, names, partition, found };
}

t.test("a restore that was cut short leaves no branches to the next one, and takes none away", async (t) => {
  const { world, id, names, partition, found } = await withBackup(t);
  let left = 0;
  for (let turns = 4; turns < 90; turns += 7) {
    t.match(await restore(partition, world, id, null, turns), { state: "failed", error: { code: "shutting_down" } });
    left = Math.max(left, found().length);
  }
  t.ok(left > 1, "some were made");
  t.match(await restore(partition, world, id, null), { state: "completed" });
  t.strictSame(found().sort(), names);
  t.match(await restore(partition, world, id, null), { state: "completed" });
  t.strictSame(found().sort(), [...names, ...names.map((name) => `${name}-restored`)].sort(), "beside those that stay");
});

t.test("one commit ends a restore, and a tenant that nobody knew yet has no branches twice", async (t) => {
  const { world, id, names, partition, found } = await withBackup(t);
  for (let round = 0; round < 2; round++) {
    t.match(await restore(partition, world, id, null, null, true), { state: "completed" });
    t.strictSame(found().sort(), names);
  }
  const place = placeKey(TARGET);
  const last = [...partition.shard.log.replay(1)].findLast(({ operations }) =>
    [...operations].some(({ key, value }) => value === null && place.equals(key)),
  );
  const records = partition.shard.layers!.branchesUnder(TARGET).map(([number]) => branchKey(number));
  const written = [...last!.operations].filter(({ value }) => value !== null).map(({ key }) => key);
  t.ok(
    records.every((record) => written.some((key) => record.equals(key))),
    "it serves the tenant again and takes the marks of its branches away",
  );
});

t.test("what continues a backup of an earlier release holds no branches, and says so", async (t) => {
  const world = new World(await openPartition(), new SeededRandom(4));
  t.teardown(() => rmSync(world.root, { recursive: true }));
  while (world.places.size < 3) world.step();
  const { branches: _, ...earlier } = await world.backUp(false);
  world.folder.save(earlier);
  world.step();
  const order = {
    ...({ ask: "moment", do: "create", tenantId: "acme", tenant: TENANT, store: "tenant", passphrase: null } as const),
    ...{ base: { continues: earlier.id }, schedule: null, verifies: false },
  };
  world.backups.order(world.partition, order);
  while (world.ordered !== "completed" && world.ordered !== "failed") await turn();
  const tail = world.folder.list("acme").find(({ base }) => base === earlier.id)!;
  t.match(tail, { kind: "incremental", note: /holds no branches/ });
  t.equal(tail.branches, undefined);
  const next = await world.backUp(true);
  t.match(next, { kind: "full", note: /the last one holds no branches/ });
  t.equal(next.branches!.length, world.at(next.micros).size - 1);
});

t.test("a row is in a backup once for each moment that a branch needs, however often it has changed", async (t) => {
  const world = new World(await openPartition(), new SeededRandom(4));
  t.teardown(() => rmSync(world.root, { recursive: true }));
  while (world.places.size < 2) world.step();
  world.isQuiet = true;
  const { entries } = await world.backUp(false);
  for (let i = 0; i < 600; i++) world.write("");
  const later = await world.backUp(false);
  t.ok(later.entries < entries + 5 * ROWS, `${entries} entries before, ${later.entries} now`);
});
