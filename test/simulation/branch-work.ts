/**
 * One who forks a tenant of its own, now or as of a moment, writes in it and in its branches, compares, merges and
 * deletes them, and reads its past, one after the other, held against plain maps. What became of a request without an
 * answer is read afterwards: all of it was done, or nothing.
 */
import type { SeededRandom } from "./seeded-random.js";
import { type Outcome, type Reply, statusOf } from "./simulated-node.js";
import { endingOf, type TenantWork } from "./workload.js";

/** Rows of a table by their keys. */
type Rows = ReadonlyMap<number, number>;

/** The tenant, or a branch of it. */
interface Place {
  /** Null: the tenant itself. */
  readonly name: string | null;
  readonly origin: Place | null;
  /** What it began with. */
  readonly base: Rows;
  /** What it had when it was merged last, or else what it began with. */
  merged: Rows;
  /** The commit of that merge. */
  mergedBy: number | null;
  rows: Rows;
}

const KEYS = 12;
const BRANCHES_MAX = 5;
const MOMENTS_MAX = 20;
const TRIES = 200;
const ALL = "SELECT k, v FROM item";

export class BranchWork {
  isStopped = false;
  readonly problems: string[] = [];
  /** What was acknowledged, or found done. */
  forks = 0;
  merges = 0;
  pastReads = 0;
  /** What the tenant had after commits that it was told of. */
  private readonly moments: { readonly sequence: number; readonly rows: Rows }[] = [];
  private readonly tenant: Place;
  private readonly places: Place[];
  private lastName = 0;
  private lastValue = 0;

  constructor(
    readonly work: TenantWork,
    private readonly random: SeededRandom,
  ) {
    this.tenant = { name: null, origin: null, base: new Map(), merged: new Map(), mergedBy: null, rows: new Map() };
    this.places = [this.tenant];
  }

  async prepare(): Promise<void> {
    await this.work.rows("CREATE TABLE item (k integer PRIMARY KEY, v integer)");
    await this.work.rows("CREATE INDEX item_v ON item (v)");
    const { status } = (await this.call("history.set", { window_seconds: 86_400 }, [])) as Reply;
    if (status !== 200) throw new Error(`the past is not kept: ${status}`);
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      await this.step();
      await this.work.node.loop.sleep(this.random.next() * 8);
    }
  }

  private step(): Promise<void> {
    const { random } = this;
    const place = random.pick(this.places);
    const dice = random.next();
    if (dice < 0.42) return this.write(place);
    if (dice < 0.47) return this.read(place);
    if (dice < 0.53) return this.remember();
    if (dice < 0.6) return this.readPast();
    if (dice < 0.72) return this.fork(place);
    if (place.name === null) return this.write(place);
    if (dice < 0.82) return this.compare(place);
    if (dice < 0.94) return this.merge(place);
    return this.delete(place);
  }

  /** A client that is alone: what is there when nothing is broken any more is what it has made. */
  async look(): Promise<string[]> {
    for (const { sequence, rows } of this.moments) {
      const found = new Map(
        (await this.answered(this.tenant, `${ALL} AS OF SEQUENCE ${sequence}`)) as [number, number][],
      );
      if (textOf(found) !== textOf(rows)) this.differs(this.tenant, `at the end as of ${sequence}`, found, rows);
    }
    for (const place of this.places) {
      const found = await this.found(place);
      if (textOf(found) !== textOf(place.rows)) this.differs(place, "at the end", found, place.rows);
      for (const v of new Set(place.rows.values())) {
        const keys = await this.answered(place, `SELECT k FROM item WHERE v = ${v} ORDER BY k`);
        const expected = [...place.rows].filter((row) => row[1] === v).map(([k]) => [k]);
        expected.sort((a, b) => a[0]! - b[0]!);
        if (JSON.stringify(keys) !== JSON.stringify(expected)) {
          this.problems.push(`${nameOf(place)} has ${JSON.stringify(keys)} by ${v}, not ${JSON.stringify(expected)}`);
        }
      }
    }
    return this.problems.map((problem) => `branches of ${this.work.name}: ${problem}`);
  }

  private async write(place: Place): Promise<void> {
    const { random } = this;
    const from = random.between(0, KEYS - 1);
    const to = Math.min(KEYS - 1, from + random.between(0, 3));
    const v = ++this.lastValue;
    const after = new Map(place.rows);
    const isDelete = random.chance(0.3);
    for (let k = from; k <= to; k++) {
      if (isDelete) after.delete(k);
      else after.set(k, v);
    }
    const insert = `INSERT INTO item SELECT k, ${v} FROM generate_series(${from}, ${to}) k ON CONFLICT (k) DO UPDATE SET v = ${v}`;
    const sql = isDelete ? `DELETE FROM item WHERE k BETWEEN ${from} AND ${to}` : insert;
    await this.settle(place, after, await this.call("query.execute", { sql }, [], place), sql);
  }

  /** Notes what a request has made of a place; where nobody knows, it is read. */
  private async settle(place: Place, after: Rows, outcome: Outcome, what: string): Promise<boolean> {
    const ending = endingOf(outcome, (status) => status < 300);
    if (ending === "aborted") return false;
    if (ending === "unknown") {
      const found = await this.found(place);
      if (textOf(found) === textOf(place.rows)) return false;
      if (textOf(found) !== textOf(after)) this.differs(place, `after ${what}`, found, after);
    }
    place.rows = after;
    return true;
  }

  private async read(place: Place): Promise<void> {
    const outcome = await this.call("query.execute", { sql: ALL }, [], place);
    if (statusOf(outcome) !== 200) return;
    const rows = new Map((outcome as Reply).body.data.rows as [number, number][]);
    if (textOf(rows) !== textOf(place.rows)) this.differs(place, "when it was read", rows, place.rows);
  }

  /** Asks for the newest commit: nobody but this client writes in the tenant. */
  private async remember(): Promise<void> {
    const outcome = await this.call("history.get", undefined, []);
    if (statusOf(outcome) !== 200) return;
    const { sequence } = (outcome as Reply).body.data.newest;
    this.moments.push({ sequence, rows: this.tenant.rows });
    if (this.moments.length > MOMENTS_MAX) this.moments.splice(this.random.between(0, MOMENTS_MAX), 1);
  }

  private async readPast(): Promise<void> {
    if (this.moments.length === 0) return;
    const { sequence, rows } = this.random.pick(this.moments);
    const outcome = await this.call("query.execute", { sql: `${ALL} AS OF SEQUENCE ${sequence}` }, []);
    if (statusOf(outcome) !== 200) return;
    this.pastReads++;
    const found = new Map((outcome as Reply).body.data.rows as [number, number][]);
    if (textOf(found) !== textOf(rows)) this.differs(this.tenant, `as of ${sequence}`, found, rows);
  }

  private async fork(origin: Place): Promise<void> {
    if (this.places.length > BRANCHES_MAX) return;
    const name = `b${++this.lastName}`;
    const canLookBack = origin.name === null && this.moments.length > 0;
    const moment = canLookBack && this.random.chance(0.4) ? this.random.pick(this.moments) : null;
    const from = { ...(origin.name !== null && { from: origin.name }), ...(moment && { as_of: moment.sequence }) };
    const body = { name, ...from };
    const outcome = await this.call("branches.create", body, []);
    const ending = endingOf(outcome, (status) => status === 201);
    if (ending === "aborted" || (ending === "unknown" && !(await this.isThere(name)))) return;
    this.forks++;
    const { rows } = moment ?? origin;
    this.places.push({ name, origin, base: rows, merged: rows, mergedBy: null, rows });
  }

  private async compare(place: Place): Promise<void> {
    const outcome = await this.call("branches.diff", undefined, [place.name!]);
    if (statusOf(outcome) !== 200) return;
    const { rows } = (outcome as Reply).body.data;
    const told = (rows as { before: { k: number; v: number } | null; after: { k: number; v: number } | null }[])
      .map(({ before, after }) => [(before ?? after)!.k, before?.v ?? null, after?.v ?? null])
      .sort((a, b) => a[0]! - b[0]!);
    const expected = changedKeys(place.base, place.rows).map((k) => [
      k,
      place.base.get(k) ?? null,
      place.rows.get(k) ?? null,
    ]);
    if (JSON.stringify(told) !== JSON.stringify(expected)) {
      this.problems.push(`${nameOf(place)} differs by ${JSON.stringify(told)}, not ${JSON.stringify(expected)}`);
    }
  }

  private async merge(place: Place): Promise<void> {
    const origin = place.origin!;
    const conflicts = this.random.pick(["refuse", "ours", "theirs"]);
    const after = new Map(origin.rows);
    let count = 0;
    for (const k of changedKeys(place.merged, place.rows)) {
      const [base, ours, theirs] = [place.merged.get(k), origin.rows.get(k), place.rows.get(k)];
      if (ours === theirs) continue;
      const isConflict = ours !== base;
      if (isConflict) count++;
      if (isConflict && conflicts === "ours") continue;
      if (theirs === undefined) after.delete(k);
      else after.set(k, theirs);
    }
    const isRefused = conflicts === "refuse" && count > 0;
    const outcome = await this.call("branches.merge", { conflicts }, [place.name!]);
    if (statusOf(outcome) === 200) {
      const { merged, conflicts_total } = (outcome as Reply).body.data;
      if (merged === isRefused || conflicts_total !== count) {
        this.problems.push(`a merge of ${nameOf(place)} found ${conflicts_total} conflicts, not ${count}`);
      }
    }
    const wasMerged = await this.settle(
      origin,
      isRefused ? origin.rows : after,
      outcome,
      `a merge of ${nameOf(place)}`,
    );
    if (wasMerged) this.merges++;
    const sequence = await this.mergeOf(place);
    if (sequence === place.mergedBy) {
      if (wasMerged && !isRefused)
        this.problems.push(`a merge of ${nameOf(place)} is done, and the branch knows nothing of it`);
      return;
    }
    if (isRefused) this.problems.push(`a merge of ${nameOf(place)} was refused, and the branch has it as done`);
    Object.assign(place, { merged: place.rows, mergedBy: sequence });
  }

  /** The commit of its last merge; null: there was none. */
  private async mergeOf(place: Place): Promise<number | null> {
    for (let i = 0; i < TRIES; i++) {
      const outcome = await this.call("branches.get", undefined, [place.name!]);
      if (statusOf(outcome) === 200) return (outcome as Reply).body.data.merged?.sequence ?? null;
      await this.work.node.loop.sleep(200);
    }
    throw new Error(`nobody said when ${nameOf(place)} was merged`);
  }

  private async delete(place: Place): Promise<void> {
    const hasBranches = this.places.some(({ origin }) => origin === place);
    const outcome = await this.call("branches.delete", undefined, [place.name!]);
    const ending = endingOf(outcome, (status) => status === 204);
    if (hasBranches && ending === "committed") this.problems.push(`${nameOf(place)} was deleted, and has branches`);
    if (ending === "aborted" || (ending === "unknown" && (await this.isThere(place.name!)))) return;
    this.places.splice(this.places.indexOf(place), 1);
  }

  private async isThere(name: string): Promise<boolean> {
    for (let i = 0; i < TRIES; i++) {
      const status = statusOf(await this.call("branches.get", undefined, [name]));
      if (status === 200) return true;
      if (status === 404) return false;
      await this.work.node.loop.sleep(200);
    }
    throw new Error(`nobody said whether there is a branch ${name}`);
  }

  private async found(place: Place): Promise<Rows> {
    return new Map((await this.answered(place, ALL)) as [number, number][]);
  }

  private async answered(place: Place, sql: string): Promise<unknown[][]> {
    for (let i = 0; i < TRIES; i++) {
      const outcome = await this.call("query.execute", { sql }, [], place);
      if (statusOf(outcome) === 200) return (outcome as Reply).body.data.rows;
      await this.work.node.loop.sleep(200);
    }
    throw new Error(`${nameOf(place)} was never read`);
  }

  /** Nothing that it asks for is anybody's mistake but ours. */
  private async call(endpoint: string, body: object | undefined, params: string[], place?: Place): Promise<Outcome> {
    const outcome = await this.work.call(endpoint, body, { params, branch: place?.name ?? undefined });
    const status = statusOf(outcome);
    if (status === 500 || status === 400 || (status === 404 && endpoint !== "branches.get")) {
      this.problems.push(`${endpoint} ${params} answered ${status}: ${JSON.stringify((outcome as Reply).body)}`);
    }
    return outcome;
  }

  private differs(place: Place, when: string, found: Rows, expected: Rows): void {
    this.problems.push(`${nameOf(place)} has ${textOf(found)} ${when}, not ${textOf(expected)}`);
  }
}

function nameOf({ name }: Place): string {
  return name === null ? "the tenant" : `branch ${name}`;
}

function textOf(rows: Rows): string {
  return JSON.stringify([...rows].sort(([a], [b]) => a - b));
}

function changedKeys(base: Rows, rows: Rows): number[] {
  const keys = Array.from({ length: KEYS }, (_, k) => k);
  return keys.filter((k) => base.get(k) !== rows.get(k));
}
