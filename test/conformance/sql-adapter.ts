/**
 * Lets a sqllogictest runner drive the engine in process: `open()` gives an empty database on memory storage and one
 * session; `exec` runs the statements of a text and answers with the last one's rows as PostgreSQL prints them.
 */
import "../../src/features/features.js";
import { sharedByNobody } from "../../src/actor/actor-shared.js";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { DbError } from "../../src/protocol/errors.js";
import { sizeError } from "../../src/protocol/size-errors.js";
import { SEGMENT_SIZES, SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { Batch } from "../../src/query/expr/expr.js";
import { pgOidOf } from "../../src/query/expr/types.js";
import { Session } from "../../src/session/session.js";
import type { ResultShape, Rows } from "../../src/session/sql-result.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardOptions } from "../../src/storage/shard-options.js";
import { toText } from "../../src/values/text-format.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { statementClient } from "./statement-client.js";

const STATEMENT_MS_MAX = 60_000;
const TINY = {
  ...SEGMENT_SIZES,
  recordsBefore: 8,
  segmentRows: 32,
  changesMax: 12,
  lookupsBefore: 4,
  storedRowsMin: 16,
  fileRowsMin: 16,
};
const WAITS = { waits: true } as const;

interface Result {
  readonly columns: readonly string[];
  readonly oids: readonly number[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export class TextRows implements Rows {
  readonly plain: (string | null)[][] = [];

  constructor(private readonly shape: ResultShape) {}

  append({ columns }: Batch, count: number): number {
    for (let r = 0; r < count; r++) {
      this.plain.push(
        this.shape.outputs.map(({ type }, c) => {
          const value = columns[c]![r]!;
          if (value === null) return null;
          return type.name === "bool" ? String(value) : toText(type, value);
        }),
      );
    }
    return 0;
  }
}

function inMemory(): Pick<ShardOptions, "engine" | "log"> {
  return { engine: new MemoryEngine(), log: new MemoryCommitLog() };
}

/** None when it is not SQL: then the session says what it is. */
function statementsOf(sql: string): ReturnType<typeof parseSql> {
  try {
    return parseSql(sql);
  } catch {
    return [];
  }
}

/**
 * `storage`: what an earlier one left, as after a restart; it must have ended. `inTurns`: every statement is run as
 * those that took long without giving way are run again (src/session/overrun.ts).
 */
/** `columnsIn`: the folder of a shard on disk; tables of a few rows keep their columns in files there. */
export async function open(
  storage: Pick<ShardOptions, "engine" | "log"> = inMemory(),
  inTurns = false,
  columnsIn: string | null = null,
) {
  await loadParser();
  const config = loadConfig({ env: {} });
  const shard = await Shard.open({ ...storage, onDurable: (sequence) => partition.onDisk(sequence) });
  const tiny = columnsIn === null ? {} : { segments: new SegmentCache(1e9, TINY), tasks: { buildColumns } as never };
  const partition: Partition = new Partition(0, shard, config, () => undefined, sharedByNobody(config, tiny));
  if (columnsIn !== null) await partition.keepColumns(columnsIn);
  const tenant = partition.tenant(7);
  const session = new Session(tenant, {
    isolation: "read committed",
    readOnly: false,
    user: "tester",
    administrator: true,
    tenantName: "tester",
    control: "statements",
  });

  async function run(sql: string, params: readonly unknown[]): Promise<Result> {
    const outcome = await session.execute(
      {
        sql,
        params,
        maxRows: 1_000_000,
        collector: (shape) => new TextRows(shape),
        request: statementClient(STATEMENT_MS_MAX),
        ...(inTurns && WAITS),
      },
      (tx) => tenant.commit(tx),
    );
    shard.flush();
    await applyBacklog(shard);
    const { outputs } = outcome.shape;
    return {
      columns: outputs.map(({ name }) => name),
      oids: outputs.map(({ type }) => pgOidOf(type)),
      rows: outcome.rows.plain as (string | null)[][],
    };
  }

  return {
    name: "tessera",
    /** For tests that look into storage. */
    shard,
    tenant,
    tenantNumber: tenant.number,
    /** Has columns in files made where enough was written, and seen twice that nothing is written. */
    async makeColumns(): Promise<void> {
      for (let looks = 0; looks < 3; looks++) {
        partition.sweep(Date.now(), new Set());
        await partition.columns?.idle();
      }
    },
    engine: "postgresql",
    async exec(sql: string, params: readonly unknown[] = []): Promise<Result> {
      try {
        const statements = params.length > 0 ? [] : statementsOf(sql);
        if (statements.length <= 1) return await run(sql, params);
        let last: Result | null = null;
        for (const { text } of statements) last = await run(text, []);
        return last!;
      } catch (error) {
        const expected = error instanceof DbError ? error : sizeError(error);
        if (expected === null) throw Object.assign(error as Error, { code: "XX000" });
        const { message, code, details } = expected;
        throw Object.assign(new Error(message), {
          code: details?.sqlstate ?? code,
          position: details?.position,
          hint: details?.hint,
        });
      }
    },
    async close(): Promise<void> {
      await partition.columns?.close();
      await shard.close();
    },
  };
}
