/**
 * Loads that the engine takes, or has just taken, whose rows are to become columns: in the order in which it takes
 * them. Owned by column-store.ts.
 */
import { mkdirSync } from "node:fs";
import { storageIdOf, tenantOfKey } from "../../../../storage/keys.js";
import type { LargeCommitMade } from "../../../../storage/large-commits.js";
import type { TableLayout } from "../../table-layout.js";
import type { StoredTable } from "./stored-table.js";
import { type BuildOptions, type LoadedRows, loadedRows, runsOf } from "./table-builds.js";
import { storedColumns } from "./what-to-build.js";

export interface LoadsHost {
  readonly options: BuildOptions & {
    readonly layoutOf: (tenantNumber: number, storageId: number) => TableLayout | null;
  };
  storedOf(tenantNumber: number, storageId: number): StoredTable;
}

export class Loads {
  private readonly waiting: LoadedRows[] = [];

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
      stored.table.making.add(loaded.span);
      this.waiting.push(loaded);
    }
  }

  /** The next one, which waits no more. */
  take(): LoadedRows | undefined {
    return this.waiting.shift();
  }
}
