/** Tessera in this process for bench/bulk: a shard on disk and one session, without the gateway, as the peers run without theirs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { Batch } from "../../src/query/expr/expr.js";
import { Session } from "../../src/session/session.js";
import type { ResultShape, Rows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { toText } from "../../src/values/text-format.js";
import { applyBacklog } from "../../test/storage/apply-backlog.js";
import type { Cell, Side } from "./side.js";

const TENANT = 1;

class TextRows implements Rows {
  readonly plain: Cell[][] = [];

  constructor(private readonly shape: ResultShape) {}

  append({ columns }: Batch, count: number): number {
    for (let r = 0; r < count; r++) {
      this.plain.push(
        this.shape.outputs.map(({ type }, c) => {
          const value = columns[c]![r]!;
          return value === null ? null : toText(type, value);
        }),
      );
    }
    return 0;
  }
}

const alone = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

export async function tesseraSide(): Promise<Side> {
  await loadParser();
  const directory = mkdtempSync(join(tmpdir(), "tessera-tpch-"));
  const durable: (() => void)[] = [];
  let taking: Promise<void> | null = null;
  const shard = await openShardOnDisk(join(directory, "partition-0"), {
    onDurable: () => {
      for (const resolve of durable.splice(0)) resolve();
    },
  });
  const config = loadConfig({ env: { TESSERA_QUERY_MEMORY_BYTES_MAX: String(2 ** 31) } });
  const tenant = new Partition(0, shard, config, () => undefined).tenant(TENANT);
  const session = new Session(tenant, {
    isolation: "read committed",
    readOnly: false,
    user: "bench",
    tenantName: "bench",
    control: "statements",
  });

  async function run(sql: string): Promise<readonly (readonly Cell[])[]> {
    const outcome = await session.execute(
      { sql, params: [], maxRows: 1_000_000, collector: (shape) => new TextRows(shape), request: alone },
      (tx) => tenant.commit(tx),
    );
    shard.flush();
    // An answer goes out when all that it has seen is on disk. The engine takes a large commit afterwards.
    while (shard.durableSequence < shard.committedSequence) await new Promise<void>((resolve) => durable.push(resolve));
    taking ??= applyBacklog(shard).finally(() => {
      taking = null;
    });
    return outcome.rows.plain as Cell[][];
  }

  return {
    name: "tessera",
    query: async (sql) => {
      const started = performance.now();
      const rows = await run(sql.trim().replace(/;$/, ""));
      return { rows, milliseconds: performance.now() - started };
    },
    settle: async () => {
      while (taking !== null) await taking;
    },
    stop: async () => {
      await shard.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
