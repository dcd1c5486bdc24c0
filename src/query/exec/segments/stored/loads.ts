/**
 * Loads that the engine takes, or has just taken, whose rows are to become columns: in the order in which it takes
 * them. Those that a stop or a crash has interrupted go on after the next start, from the same files. Owned by
 * column-store.ts.
 */
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { heldParts } from "../../../../storage/commit-parts.js";
import { storageIdOf, tenantOfKey } from "../../../../storage/keys.js";
import type { LargeCommitMade } from "../../../../storage/large-commits.js";
import type { TableLayout } from "../../table-layout.js";
import type { LoadedRows, StoredTable } from "./stored-table.js";
import { awaitedRows, type BuildOptions, loadedBy, loadedRows, runsOf } from "./table-builds.js";
import type { PendingLoad } from "./table-manifest.js";
import { storedColumns } from "./what-to-build.js";

export interface LoadsHost {
  readonly options: BuildOptions & {
    readonly layoutOf: (tenantNumber: number, storageId: number) => TableLayout | null;
  };
  storedOf(tenantNumber: number, storageId: number): StoredTable;
}

/** Of a load of an earlier run of the server: no run has it. */
const EARLIER_RUN = -1;

export class Loads {
  private waiting: LoadedRows[] = [];

  constructor(private readonly host: LoadsHost) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** A large commit is about to be taken by the engine. */
  note(commit: LargeCommitMade): void {
    const { options } = this.host;
    const { cache } = options;
    for (const run of runsOf(commit, cache.sizes.fileRowsMin)) {
      const [tenantNumber, storageId] = [tenantOfKey(run.prefix), storageIdOf(run.prefix)];
      const layout = options.layoutOf(tenantNumber, storageId);
      if (layout === null || storedColumns(layout).length === 0) continue;
      const stored = this.host.storedOf(tenantNumber, storageId);
      if (cache.tableOf(tenantNumber, storageId) !== stored.table) cache.adopt(stored.table);
      const loaded = loadedRows(options, stored, run, commit);
      if (loaded === null) continue;
      // After a crash it says that the table is long.
      mkdirSync(stored.folder, { recursive: true });
      this.add(loaded);
    }
  }

  private add(loaded: LoadedRows): void {
    const { stored } = loaded;
    stored.table.making.add(loaded.span);
    stored.loads.add(loaded);
    this.waiting.push(loaded);
  }

  /** A load that a manifest names. `openedSequence`: what the engine had when it was opened. */
  resume(stored: StoredTable, pending: PendingLoad, openedSequence: number): void {
    const { table } = stored;
    const { store, directory } = this.host.options;
    const { rows, sequence, parts: named } = pending;
    const held = join(directory, pending.held);
    const parts = heldParts({ id: named.id, operations: named.operations }, named.lengths, held);
    if (parts === null || sequence > openedSequence) {
      table.writesInGaps += rows;
      return;
    }
    const { awaited, resolve } = awaitedRows(rows);
    const [from, to] = [table.start + pending.from, table.start + pending.to];
    const span = { from, to, run: EARLIER_RUN, awaited, loaded: loadedBy(store, sequence, rows) };
    this.add({ stored, span, resolve, rows, sequence, parts, held });
  }

  /** Its table's files are given up. */
  forget({ table, loads }: StoredTable): void {
    for (const loaded of loads) {
      table.making.delete(loaded.span);
      loaded.resolve();
    }
    this.waiting = this.waiting.filter((loaded) => !loads.has(loaded));
    loads.clear();
  }

  /** Names of the folders in which they have files. */
  held(): ReadonlySet<string> {
    return new Set(this.waiting.map(({ held }) => basename(held)));
  }

  /** The next one, which waits no more. */
  take(): LoadedRows | undefined {
    return this.waiting.shift();
  }
}
