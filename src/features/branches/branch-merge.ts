/**
 * POST /v1/branches/{name}/merge: writes what a branch has changed into its origin. A three-way merge by row: the row
 * as it was at the fork, as the origin has it (ours) and as the branch has it (theirs). One serializable transaction of
 * the origin, in which rows go through the same writer as those of statements: all constraints hold as always.
 */

import type { Request } from "../../actor/request.js";
import type { SequenceDef, SequencePosition } from "../../catalog/sequence.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { MERGED_ROWS_MAX } from "../../protocol/limits.js";
import type { Move } from "../../query/exec/changed-entries.js";
import type { ExecContext } from "../../query/exec/context.js";
import { RowRuleChecks } from "../../query/exec/row-rules.js";
import { layoutOf } from "../../query/exec/table-layout.js";
import { TableWriter } from "../../query/exec/table-writer.js";
import type { Answer } from "../../session/answer.js";
import { isAudited } from "../../session/audited-definitions.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import type { Branch, BranchRecord } from "../../storage/branch-list.js";
import { branchEnded } from "../../storage/ending-branches.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { branchKey } from "../../storage/history-keys.js";
import { prefixRange, storageIdOf, tenantPrefix } from "../../storage/keys.js";
import type { MergeRecord } from "../../storage/merge-points.js";
import { encodeRecord } from "../../storage/record-codec.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { type Ask, askIn } from "../statements/run-alone.js";
import { type DefinitionMerge, mergeDefinitions, mergeWhole } from "./branch-definitions.js";
import { changeOf } from "./branch-diff.js";
import { isThere } from "./branch-life.js";
import { GraphEnds, leftOut } from "./graph-ends.js";
import { requireOrigin } from "./make-branch.js";
import { type OpenConflict, RESOLVED_AT_ONCE, RESOLVED_BYTES, resolvedRows } from "./resolve-conflicts.js";
import {
  type BranchTables,
  branchTables,
  type Row,
  type RowDifference,
  rowDifferences,
  sameDefinition,
  shownName,
  shownRow,
} from "./row-changes.js";

interface Wanted {
  readonly conflicts?: "refuse" | "ours" | "theirs";
  readonly dry_run?: boolean;
  /** Only the rows of these; absent: everything. */
  readonly tables?: readonly string[];
  /** A statement that says what rows in conflict are to be. */
  readonly resolve?: { readonly sql: string };
}

/** Rows that are written in a turn. */
const ROWS_AT_ONCE = 8;
/** How often a merge is tried: the server itself writes to a branch, statistics of a table that has just changed. */
const ATTEMPTS_MAX = 3;
/** Conflicts that an answer shows. */
const CONFLICTS_SHOWN = 100;

type Merged = Answer<ResponseOf<"branches.merge">>;
/** `placed`: the request, about the origin. */
type Commit = (placed: Request, tx: ShardTransaction, answer: Merged) => void;

/** `commit`: absent, the answer is the request's own. The origin may be another branch than the request is about. */
export function mergeBranch(
  request: Request,
  number: number,
  wanted: Wanted,
  commit: Commit = (placed, tx, answer) => placed.commit(tx, answer),
): Promise<Merged> {
  const branch = request.partition.shard.layers!.branchOf(number)!;
  requireOrigin(branch, "there is nothing to merge it into");
  const origin = request.partition.tenant(branch.origin);
  return request.inTenant(origin, async (placed) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await mergeInto(placed, number, branch, wanted, commit);
      } catch (error) {
        if (!(error instanceof DbError) || error.code !== "serialization_failure") throw error;
        if (attempt === ATTEMPTS_MAX) throw error;
        await request.yieldTurn();
      }
    }
  });
}

async function mergeInto(
  request: Request,
  number: number,
  branch: Branch,
  { conflicts = "refuse", dry_run = false, tables: only, resolve }: Wanted,
  commit: Commit,
): Promise<Merged> {
  await engineHasAll(request.partition.shard, request.yieldTurn);
  const layers = request.partition.shard.layers!;
  if (!isThere(request.partition, number, branch)) throw branchEnded();
  const { writes: before } = branch;
  const tables = await branchTables(request, number, branch);
  const origin = request.tenant;
  const session = new Session(origin, { ...sessionOptions(request, "routes"), isolation: "serializable" });
  session.begin({});
  try {
    const tx = session.contextFor(request).tx as ShardTransaction;
    // Of what the transaction sees, the engine knows since when it is there.
    await engineHasAll(request.partition.shard, request.yieldTurn);
    // What is merged is of one moment, which the merge's commit stands for: until then nobody writes to the branch.
    tx.noteRead(prefixRange(tenantPrefix(number)));
    const definitions: DefinitionMerge = { layers, number, branch, origin, yieldTurn: request.yieldTurn, tx };
    const isWanted = wantedTables(tables, only);
    const changed = only === undefined ? await mergeDefinitions(definitions, tables) : null;
    const whole = changed ?? NOTHING;
    const merge = new RowMerge(session.contextFor(request), conflicts, resolve !== undefined);
    const ask = askIn(session, request);
    for await (const difference of rowDifferences(request, number, branch, tables)) {
      if (!isWanted(difference.table)) continue;
      if (whole.has(storageIdOf(difference.key))) merge.takeWhole(difference);
      else merge.take(difference);
      if (resolve !== undefined && merge.isOpenEnough) await merge.resolve(resolve.sql, ask);
    }
    if (resolve !== undefined && merge.open.length > 0) await merge.resolve(resolve.sql, ask);
    await merge.checkGraphs(request.yieldTurn);
    const refused = conflicts === "refuse" && merge.conflictCount > 0;
    const writes = !refused && !dry_run;
    const answer = {
      plain: {
        ...{ merged: writes, ...merge.counts, resolved: merge.resolvedCount },
        ...{ conflicts: merge.conflicts, conflicts_total: merge.conflictCount },
      },
    };
    if (!writes) {
      session.rollback();
      return answer;
    }
    const write = auditedOf(tables, whole, merge);
    if (write.length > 0) merge.context.services.noteAccess({ read: [], write }, merge.context);
    await mergeWhole(definitions, whole);
    await merge.write(request.yieldTurn);
    const ids = [...tables.now.values()].filter(isWanted).map(storageOf);
    noteMerge(tx, number, branch, { tables: only === undefined ? null : ids, definitions: changed !== null });
    // It was read in several turns: all of it has to be of one moment.
    if (branch.writes !== before || !isThere(request.partition, number, branch)) throw writtenMeanwhile();
    await session.checkConstraints(merge.context);
    await session.prepareCommit(request);
    session.commit((tx) => commit(request, tx, answer));
    afterMerge(request, number, branch.origin);
    return answer;
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

const NOTHING: ReadonlySet<number> = new Set();

/** The next merge begins here. */
function noteMerge(tx: ShardTransaction, number: number, { start }: Branch, merged: MergeRecord): void {
  const stored = tx.get(branchKey(number));
  if (stored === undefined) throw branchEnded();
  const record: BranchRecord = { ...(JSON.parse(Buffer.from(stored).toString()) as BranchRecord), start, merged };
  tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
}

/** Tables whose rows or definitions are written, if that is audited now, or was at the fork. */
function auditedOf(tables: BranchTables, whole: ReadonlySet<number>, { written }: RowMerge): readonly TableDef[] {
  const isWritten = (table: TableDef) => whole.has(storageOf(table)) || written.has(storageOf(table));
  const found = new Map<number, TableDef>();
  for (const table of [...tables.now.values(), ...tables.before.values()]) {
    if (isAudited(table) && isWritten(table) && !found.has(table.id)) found.set(table.id, table);
  }
  return [...found.values()];
}

/**
 * Throws not_found for a name that no table has, conflict for a table that is another than at the fork, and
 * invalid_request for one of the two tables of a graph.
 */
function wantedTables(
  { now, changed }: BranchTables,
  only: readonly string[] | undefined,
): (table: TableDef) => boolean {
  if (only === undefined) return () => true;
  const known = new Set([...now.values()].map(shownName));
  for (const [i, name] of only.entries()) {
    if (!known.has(name)) {
      throw new DbError("not_found", `The branch has no table "${name}".`, {
        sqlstate: "42P01",
        field: `tables[${i}]`,
      });
    }
    if (!changed.some((table) => shownName(table) === name)) continue;
    const advice = 'Merge without "tables": a merge of everything takes over definitions as well.';
    throw new DbError("conflict", `The branch has changed the definition of "${name}". ${advice}`, {
      field: `tables[${i}]`,
    });
  }
  const names = new Set(only);
  const isNamed = (table: TableDef) => names.has(shownName(table));
  const half = [...now.values()].find((table) => isNamed(table) && leftOut(table, now.values(), isNamed) !== null);
  if (half === undefined) return isNamed;
  const other = shownName(leftOut(half, now.values(), isNamed)!);
  throw new DbError("invalid_request", `"${shownName(half)}" is of a graph: name "${other}", too.`, {
    field: `tables[${only.indexOf(shownName(half))}]`,
  });
}

/** What gives out numbers to new rows goes on after those of the branch. */
function afterMerge({ partition }: Request, number: number, origin: number): void {
  const { sequences } = partition;
  partition.rowNumbers.lookAgain(origin);
  for (const sequence of partition.definitions(origin, (catalog) => catalog.sequences())) {
    const [ours, theirs] = [origin, number].map((tenant) => sequences.position(tenant, sequence));
    const steps = (nextOf(theirs!, sequence) - nextOf(ours!, sequence)) * BigInt(Math.sign(Number(sequence.increment)));
    if (steps > 0n) sequences.set(origin, sequence, theirs!);
  }
}

function nextOf({ last, called }: SequencePosition, { increment }: SequenceDef): bigint {
  return BigInt(last) + (called ? BigInt(increment) : 0n);
}

/** Collects rows that are to be written, and writes them through the writers of statements. */
export class RowMerge {
  readonly counts = { added: 0, removed: 0, changed: 0 };
  /** The same of each table that is written. */
  readonly countsOf = new Map<TableDef, RowMerge["counts"]>();
  readonly conflicts: ResponseOf<"branches.merge">["conflicts"][number][] = [];
  conflictCount = 0;
  /** Conflicts that wait for `resolve`. */
  readonly open: OpenConflict[] = [];
  private openBytes = 0;
  resolvedCount = 0;
  /** Storage ids of tables whose rows are written. */
  readonly written = new Set<number>();
  private readonly writers = new Map<TableDef, TableWriter>();
  private readonly columns = new Map<TableDef, ReadonlySet<number>>();
  private readonly removals: { readonly table: TableDef; readonly key: Uint8Array; readonly ours: Row }[] = [];
  private readonly changes: {
    readonly table: TableDef;
    readonly key: Uint8Array;
    readonly ours: Row | null;
    readonly theirs: Row;
  }[] = [];
  private readonly current: ReadonlyMap<number, TableDef>;
  private readonly ends = new GraphEnds();

  constructor(
    readonly context: ExecContext,
    private readonly resolution: "refuse" | "ours" | "theirs",
    /** Somebody will say what rows in conflict are to be. */
    private readonly keepsOpen = false,
  ) {
    this.current = new Map(
      context.services
        .catalogView()
        .tables()
        .map((table) => [storageOf(table), table]),
    );
  }

  take({ table, key, before, after }: RowDifference): void {
    const own = this.current.get(storageOf(table));
    if (own === undefined || !sameDefinition(own, table)) {
      throw definitionChanged(table);
    }
    const ours = this.writerOf(table).find(key);
    if (sameRow(table, ours, after)) return;
    if (sameRow(table, ours, before)) this.keep({ table, key, before: ours, after });
    else if (this.keepsOpen) this.keepOpen({ table, key, before, ours, theirs: after });
    else this.settle({ table, key, before, ours, theirs: after });
  }

  private keepOpen(conflict: OpenConflict): void {
    const { types } = layoutOf(conflict.table);
    for (const row of [conflict.before, conflict.ours, conflict.theirs]) {
      if (row !== null) this.openBytes += encodeRecord(types, row).length;
    }
    this.open.push(conflict);
  }

  /** Whether the statement is to be asked about those that are open. */
  get isOpenEnough(): boolean {
    return this.open.length >= RESOLVED_AT_ONCE || this.openBytes >= RESOLVED_BYTES;
  }

  /** What the merge was told of all conflicts. */
  private settle({ table, key, before, ours, theirs }: OpenConflict): void {
    this.conflict(table, before, ours, theirs);
    if (this.resolution !== "theirs") return;
    if (before === null && layoutOf(table).primaryKey === null) throw sameNumber(table);
    this.keep({ table, key, before: ours, after: theirs });
  }

  /** Asks the statement for the open conflicts. Those that it says nothing about are settled as all others. */
  async resolve(sql: string, ask: Ask): Promise<void> {
    const open = this.open.splice(0);
    this.openBytes = 0;
    const tx = this.context.tx as ShardTransaction;
    // While the savepoint stands, everything that is written adds to the size.
    const point = tx.savepoint();
    const size = tx.writtenBytes;
    const rows = await resolvedRows(sql, open, ask, ({ table }) => this.writerOf(table));
    if (tx.writtenBytes !== size) throw resolveWrites();
    tx.release(point);
    for (const [i, conflict] of open.entries()) {
      const { table, key, before, ours } = conflict;
      const row = rows.get(i);
      if (row === undefined) {
        this.settle(conflict);
        continue;
      }
      if (before === null && layoutOf(table).primaryKey === null) throw sameNumber(table);
      this.resolvedCount++;
      if (!sameRow(table, ours, row)) this.keep({ table, key, before: ours, after: row });
    }
  }

  /** A row of a table that is taken over as it stands. */
  takeWhole(difference: RowDifference): void {
    const { table, before, after } = difference;
    this.counts[changeOf(difference)]++;
    this.ends.note(table, before, after);
  }

  /** Relationships that would be without a node are conflicts. Throws conflict where one side is to count. */
  async checkGraphs(yieldTurn: () => Promise<void>): Promise<void> {
    for await (const { table, ours, theirs } of this.ends.loose(this.context, yieldTurn)) {
      if (this.resolution !== "refuse") throw looseEdge(table);
      this.conflict(table, null, ours, theirs);
    }
  }

  /** The row, which is another now, is to be as given. */
  restore(table: TableDef, key: Uint8Array, given: Row | null): void {
    this.keep({ table, key, before: this.find(table, key), after: given });
  }

  find(table: TableDef, key: Uint8Array): Row | null {
    return this.writerOf(table).find(key);
  }

  private keep({ table, key, before: ours, after }: RowDifference): void {
    this.ends.note(table, ours, after);
    const change = changeOf({ before: ours, after });
    const counts = this.countsOf.get(table) ?? { added: 0, removed: 0, changed: 0 };
    this.countsOf.set(table, counts);
    this.counts[change]++;
    counts[change]++;
    this.written.add(storageOf(table));
    if (this.removals.length + this.changes.length >= MERGED_ROWS_MAX) throw tooMany();
    if (after !== null) this.changes.push({ table, key, ours, theirs: after });
    else if (ours !== null) this.removals.push({ table, key, ours });
  }

  private conflict(table: TableDef, base: Row | null, ours: Row | null, theirs: Row | null): void {
    this.conflictCount++;
    if (this.conflicts.length >= CONFLICTS_SHOWN) return;
    const shown = (row: Row | null) => shownRow(table, row);
    this.conflicts.push({ table: shownName(table), base: shown(base), ours: shown(ours), theirs: shown(theirs) });
  }

  /**
   * What goes makes room for unique values first, in all tables. Throws what a statement that writes the rows would
   * throw.
   */
  async write(yieldTurn: () => Promise<void>): Promise<void> {
    let count = 0;
    const step = async (): Promise<void> => {
      if (++count % ROWS_AT_ONCE === 0) await yieldTurn();
    };
    const rules = new Map<TableDef, RowRuleChecks>();
    for (const { table, theirs } of this.changes) {
      if (!rules.has(table)) rules.set(table, new RowRuleChecks(table, this.writerOf(table), this.context));
      rules.get(table)!.check(theirs);
      await step();
    }
    for (const { table, key, ours } of this.removals) {
      this.writerOf(table).remove(key, ours);
      await step();
    }
    const moves: (Move | null)[] = [];
    for (const { table, key, ours, theirs } of this.changes) {
      moves.push(ours === null ? null : this.writerOf(table).takeOut(key, ours, theirs, this.columnsOf(table)));
      await step();
    }
    for (const [i, { table, key, theirs }] of this.changes.entries()) {
      const move = moves[i]!;
      if (move === null) this.writerOf(table).insert(theirs, key);
      else this.writerOf(table).putBack(move, theirs, this.columnsOf(table));
      await step();
    }
  }

  private columnsOf(table: TableDef): ReadonlySet<number> {
    let ids = this.columns.get(table);
    if (ids === undefined) {
      ids = new Set(table.columns.map(({ id }) => id));
      this.columns.set(table, ids);
    }
    return ids;
  }

  private writerOf(table: TableDef): TableWriter {
    let writer = this.writers.get(table);
    if (writer === undefined) {
      writer = new TableWriter(table, this.context);
      this.writers.set(table, writer);
    }
    return writer;
  }
}

function resolveWrites(): DbError {
  return new DbError("invalid_request", "The query reads only, and this one writes, perhaps in a function.", {
    field: "resolve.sql",
    sqlstate: "25006",
  });
}

function writtenMeanwhile(): DbError {
  return new DbError("serialization_failure", "The branch was written to, or ended, while it was merged. Try again.");
}

export function sameRow(table: TableDef, a: Row | null, b: Row | null): boolean {
  if (a === null || b === null) return a === b;
  const { types } = layoutOf(table);
  return Buffer.compare(encodeRecord(types, a), encodeRecord(types, b)) === 0;
}

function definitionChanged(table: TableDef): DbError {
  const advice = "Make the same change in the branch, and merge again.";
  return new DbError(
    "conflict",
    `Since the fork, the origin has changed the definition of "${shownName(table)}". ${advice}`,
  );
}

/** Two rows that have nothing to do with each other got one number. */
function sameNumber(table: TableDef): DbError {
  const what = `Both the branch and its origin have inserted rows into "${shownName(table)}", which has no primary key.`;
  return new DbError(
    "conflict",
    `${what} They cannot be told apart: merge with "conflicts": "ours", or insert them again.`,
  );
}

function looseEdge(table: TableDef): DbError {
  const what = `A relationship of "${shownName(table)}" would be without a node, which the other side has deleted.`;
  return new DbError("conflict", `${what} Delete the relationship, or make the node again, and merge again.`);
}

function tooMany(): DbError {
  return new DbError("payload_too_large", `At most ${MERGED_ROWS_MAX} rows are written at once.`);
}
