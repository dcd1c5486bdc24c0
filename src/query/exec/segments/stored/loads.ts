/**
 * Loads that the engine takes, or has just taken, whose rows are to become columns: in the order in which it takes
 * them. Those that a stop or a crash has interrupted go on after the next start, from the same files. Owned by
 * column-store.ts.
 */
import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { heldParts, holdParts } from "../../../../storage/commit-parts.js";
import { keyAfter, storageIdOf, tenantOfKey } from "../../../../storage/keys.js";
import type { LargeCommitMade } from "../../../../storage/large-commits.js";
import { keyText } from "../../../../storage/ordered-map.js";
import type { TableLayout } from "../../table-layout.js";
import type { KeyTextSpan } from "../table-segments.js";
import type { FoundTable } from "./open-stored.js";
import type { LoadedRows, StoredTable } from "./stored-table.js";
import { awaitedRows, type BuildOptions, heldFolder, loadedBy, loadedRows, runsOf } from "./table-builds.js";
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
    const { rows, sequence, parts: named } = pending;
    const held = join(this.host.options.directory, pending.held);
    const parts = heldParts({ id: named.id, operations: named.operations }, named.lengths, held);
    if (parts === null || sequence > openedSequence) {
      table.writesInGaps += rows;
      return;
    }
    const [from, to] = [table.start + pending.from, table.start + pending.to];
    this.addEarlier(stored, { from, to }, { rows, sequence, parts, held });
  }

  /**
   * Loads that the engine has got from the log when it was opened: no manifest need name them. `found`: what was opened
   * of the table; null: it has no manifest, so nothing is known of it before its first load.
   */
  resumeReplayed(stored: StoredTable, found: FoundTable | null): FoundTable | null {
    const { store, directory, layoutOf } = this.host.options;
    const { table } = stored;
    const layout = layoutOf(table.tenantNumber, table.storageId);
    if (layout === null || storedColumns(layout).length === 0) return found;
    let since = found;
    for (const { prefix, sequence, first, last, rows, parts } of store.replayed) {
      if (keyText(prefix) !== table.start || sequence <= (since?.sequence ?? -1)) continue;
      if ([...stored.loads].some((load) => load.sequence === sequence)) continue;
      const files = store.log.filesOf(parts);
      if (files === null) continue;
      const [from, to] = [keyText(first), keyText(keyAfter(last))];
      const before = table.segments[table.numberBefore(to)];
      if ((before !== undefined && before.to > from) || table.isMakingIn(from, to)) continue;
      const held = heldFolder(directory, table, sequence);
      // What is left there is not known to be whole.
      rmSync(held, { recursive: true, force: true });
      this.addEarlier(stored, { from, to }, { rows, sequence, parts: holdParts(files, held), held });
      since ??= { stored, sequence, changed: [], loads: [] };
    }
    return since;
  }

  /** Of an earlier run of the server. */
  private addEarlier(
    stored: StoredTable,
    range: KeyTextSpan,
    load: Pick<LoadedRows, "rows" | "sequence" | "parts" | "held">,
  ): void {
    const { awaited, resolve } = awaitedRows(load.rows);
    const loaded = loadedBy(this.host.options.store, load.sequence, load.rows);
    this.add({ stored, span: { ...range, run: EARLIER_RUN, awaited, loaded }, resolve, ...load });
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
