/**
 * Rows of groups that do not fit into a statement's memory, on disk by partitions of their keys: as chunks where the
 * groups are in typed arrays and the columns have a stored form, else row by row. What has no key in typed arrays is
 * put there row by row in any case; no other row has its key. Made by aggregate.ts.
 */
import type { SqlType, Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { KeyGroups } from "./key-groups.js";
import type { Operator } from "./operator.js";
import type { Chunk } from "./segments/chunk.js";
import { ChunkPartitions, canSpillChunks } from "./spill/chunk-partitions.js";
import { Partitions } from "./spill/partitions.js";
import { RunScan } from "./spill/spilled-rows.js";

export class GroupOverflow {
  private rows: Partitions | null = null;
  private chunks: ChunkPartitions | null = null;

  constructor(
    private readonly columns: readonly OutputColumn[],
    private readonly context: ExecContext,
    private readonly depth: number,
  ) {}

  static takesChunks(columns: readonly OutputColumn[]): boolean {
    return canSpillChunks(columns);
  }

  addRow(key: HashKey | null, columns: readonly ArrayLike<Value>[], row: number): void {
    const { context, depth } = this;
    this.rows ??= new Partitions(
      context.spill!,
      this.columns.map(({ type }): SqlType => type),
      context,
      depth,
    );
    this.rows.add(key, columns, row);
  }

  /** Takes the chunk's rows at these places, which are loaded in `groups`. */
  addRows(chunk: Chunk, places: Int32Array, count: number, groups: KeyGroups): void {
    const { context, depth } = this;
    this.chunks ??= new ChunkPartitions(context.spill!, this.columns, context);
    this.chunks.add(chunk, places, count, (place) => groups.partitionOf(place, depth));
  }

  /** The rows, in parts that have no key in common. */
  finish(): readonly ((context: ExecContext) => Operator)[] {
    const runs = this.rows?.finish() ?? [];
    return [
      ...(this.chunks?.finish() ?? []),
      ...runs.map(
        (run) =>
          (context: ExecContext): Operator =>
            new RunScan(run, context),
      ),
    ];
  }

  close(): void {
    this.rows?.close();
    this.chunks?.close();
  }
}
