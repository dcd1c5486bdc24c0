/**
 * Whole tables that open transactions hold by LOCK TABLE, and what goes with what (PostgreSQL 15's manual, chapter
 * 13.3.1). A transaction that has changed rows of a table holds it as "row exclusive", one that has locked rows as "row
 * share"; reading takes no lock here. Owned by key-locks.ts.
 */
import { TABLE_LOCK_MODES, type TableLockMode } from "../protocol/lock-strength.js";

const FROM_EXCLUSIVE = ["exclusive", "access exclusive"] as const;
const SHARING = ["share", "share row exclusive", ...FROM_EXCLUSIVE] as const;
const CONFLICTS: Readonly<Record<TableLockMode, readonly TableLockMode[]>> = {
  "access share": ["access exclusive"],
  "row share": FROM_EXCLUSIVE,
  "row exclusive": SHARING,
  "share update exclusive": ["share update exclusive", ...SHARING],
  share: ["row exclusive", "share update exclusive", "share row exclusive", ...FROM_EXCLUSIVE],
  "share row exclusive": ["row exclusive", "share update exclusive", ...SHARING],
  exclusive: TABLE_LOCK_MODES.slice(1),
  "access exclusive": TABLE_LOCK_MODES,
};

export function excludes(held: TableLockMode, wanted: TableLockMode): boolean {
  return CONFLICTS[held].includes(wanted);
}

/** `Holder`: what one transaction holds (key-locks.ts). */
export class TableLocks<Holder> {
  /** By what the keys of the table's rows begin with. */
  private readonly held = new Map<string, Map<Holder, Set<TableLockMode>>>();

  get size(): number {
    return this.held.size;
  }

  /** Those other than `own` whose LOCK TABLE does not go with that mode. */
  against(prefix: string, mode: TableLockMode, own: Holder | null): readonly Holder[] {
    const holders = this.held.get(prefix);
    if (holders === undefined) return [];
    const isAgainst = (modes: ReadonlySet<TableLockMode>) => [...modes].some((held) => excludes(held, mode));
    return [...holders].flatMap(([holder, modes]) => (holder !== own && isAgainst(modes) ? [holder] : []));
  }

  hold(prefix: string, holder: Holder, mode: TableLockMode): void {
    const holders = this.held.get(prefix) ?? new Map<Holder, Set<TableLockMode>>();
    this.held.set(prefix, holders.set(holder, (holders.get(holder) ?? new Set<TableLockMode>()).add(mode)));
  }

  release(holder: Holder): void {
    for (const [prefix, holders] of this.held) {
      holders.delete(holder);
      if (holders.size === 0) this.held.delete(prefix);
    }
  }

  *of(holder: Holder): Iterable<readonly [prefix: string, mode: TableLockMode]> {
    for (const [prefix, holders] of this.held) {
      for (const mode of holders.get(holder) ?? []) yield [prefix, mode];
    }
  }
}
