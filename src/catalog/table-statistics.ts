/**
 * A tenant's statistics in memory: read from their records when first asked for, replaced when a table is analyzed,
 * with counts of the changes since. For a table that was never analyzed the first rows are counted. Owned by the
 * tenant; thrown away with it.
 */
import { prefixRange, rowPrefix } from "../storage/keys.js";
import { readSome, type Transaction } from "../storage/store.js";
import {
  decodeStatistics,
  encodeStatistics,
  type StatisticsSource,
  statisticsKey,
  type TableStatistics,
} from "./statistics.js";
import { storageOf, type TableDef } from "./table.js";

/**
 * Rows counted of a table without statistics. One that has more is taken to have as many as were written to it, or, if
 * those were before this tenant was opened, `UNKNOWN_ROWS`.
 */
const PROBED_ROWS = 1000;
const UNKNOWN_ROWS = 20_000;

/**
 * Statistics are renewed after this many changes and this share of the rows, as by PostgreSQL's autovacuum, but not
 * before this many times the time that the last run took. Otherwise a table that grows fast would be read over and
 * over.
 */
const CHANGES_MIN = 500;
const CHANGED_FRACTION = 0.1;
const REST_FACTOR = 50;
/** How long renewal is put off at a bad time. */
const PUT_OFF_MS_MAX = 60_000;

const NONE: readonly number[] = [];

interface Known {
  readonly statistics: TableStatistics;
  /** From ANALYZE; otherwise counted rows that are out of date after the first change. */
  readonly analyzed: boolean;
}

export class TenantStatistics {
  private readonly known = new Map<number, Known>();
  /** Tables without a record. */
  private readonly neverAnalyzed = new Set<number>();
  /** Rows changed since the table was analyzed, or since this tenant was opened. */
  private readonly changes = new Map<number, number>();
  /** Rows written since this tenant was opened, to tables that were not analyzed. */
  private readonly written = new Map<number, number>();
  private readonly due = new Set<number>();
  /** By table: since when it is known to be due (ms, steady). */
  private readonly dueSince = new Map<number, number>();
  /** By table: the time (ms, steady) before which its statistics are not renewed again. */
  private readonly restingUntil = new Map<number, number>();

  constructor(readonly tenantNumber: number) {}

  /** What the transaction's statements are planned with. */
  source(tx: Transaction): StatisticsSource {
    return { of: (table) => this.of(table, tx) };
  }

  private of(table: TableDef, tx: Transaction): TableStatistics {
    const known = this.known.get(table.id);
    if (known !== undefined) return known.statistics;
    const record = tx.get(statisticsKey(this.tenantNumber, table.id));
    const analyzed = record !== undefined;
    const statistics = analyzed ? decodeStatistics(record) : this.probe(table, tx);
    this.known.set(table.id, { statistics, analyzed });
    return statistics;
  }

  /** What ANALYZE found, as far as the transaction sees it; null: it has not seen the table. */
  analyzed(table: TableDef, tx: Transaction): TableStatistics | null {
    const known = this.known.get(table.id);
    if (known !== undefined) return known.analyzed ? known.statistics : null;
    if (this.neverAnalyzed.has(table.id)) return null;
    const record = tx.get(statisticsKey(this.tenantNumber, table.id));
    if (record === undefined) {
      this.neverAnalyzed.add(table.id);
      return null;
    }
    const statistics = decodeStatistics(record);
    this.known.set(table.id, { statistics, analyzed: true });
    return statistics;
  }

  private probe(table: TableDef, tx: Transaction): TableStatistics {
    const cursor = tx.scan({ ...prefixRange(rowPrefix(this.tenantNumber, storageOf(table))), only: "keys" });
    let rows = 0;
    while (rows <= PROBED_ROWS) {
      const found = readSome(cursor, PROBED_ROWS);
      // There is much to step over: nobody knows what comes after it.
      if (found === null) rows = PROBED_ROWS + 1;
      else if (found.keys.length === 0) break;
      else rows += found.keys.length;
    }
    cursor.close();
    if (rows <= PROBED_ROWS) return { rows, columns: {} };
    this.due.add(table.id);
    const written = this.written.get(table.id) ?? 0;
    return { rows: written > PROBED_ROWS ? written : UNKNOWN_ROWS, columns: {} };
  }

  /** Stores what was found; others see the record when the transaction commits, plans at once. */
  put(table: TableDef, found: TableStatistics, by: "statement" | "server", tx: Transaction): void {
    const { statementMicros, serverMicros } = this.analyzed(table, tx) ?? {};
    const statistics = { ...found, statementMicros, serverMicros, [`${by}Micros`]: Date.now() * 1000 };
    tx.put(statisticsKey(this.tenantNumber, table.id), encodeStatistics(statistics));
    this.known.set(table.id, { statistics, analyzed: true });
    this.neverAnalyzed.delete(table.id);
    this.changes.delete(table.id);
    this.written.delete(table.id);
    this.due.delete(table.id);
    this.dueSince.delete(table.id);
  }

  /** A statement changed rows of the table, which may make its statistics due. */
  changed(table: TableDef, rows: number): void {
    const changes = (this.changes.get(table.id) ?? 0) + rows;
    this.changes.set(table.id, changes);
    const known = this.known.get(table.id);
    if (known?.analyzed !== true) this.written.set(table.id, (this.written.get(table.id) ?? 0) + rows);
    if (known !== undefined && !known.analyzed) this.known.delete(table.id);
    const before = known?.statistics.rows ?? 0;
    if (changes >= CHANGES_MIN + CHANGED_FRACTION * before) this.due.add(table.id);
  }

  /**
   * Ids of tables whose statistics are due; those renewed a short while ago stay so. `nowMs` is of a steady clock.
   * `isBadTimeNow`, asked where there are any: then only those that have been due for long.
   */
  takeDue(nowMs: number, isBadTimeNow = () => false): readonly number[] {
    if (this.due.size === 0) return NONE;
    const isBadTime = isBadTimeNow();
    for (const id of this.due) if (!this.dueSince.has(id)) this.dueSince.set(id, nowMs);
    const ids = [...this.due].filter(
      (id) =>
        (this.restingUntil.get(id) ?? 0) <= nowMs && !(isBadTime && nowMs - this.dueSince.get(id)! < PUT_OFF_MS_MAX),
    );
    for (const id of ids) {
      this.due.delete(id);
      this.dueSince.delete(id);
      this.changes.delete(id);
      this.restingUntil.delete(id);
    }
    return ids;
  }

  /** The table's statistics were renewed, or could not be; it took this many milliseconds. */
  renewed(id: number, nowMs: number, tookMs: number): void {
    this.restingUntil.set(id, nowMs + tookMs * REST_FACTOR);
  }
}
