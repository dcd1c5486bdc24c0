/**
 * Lets the runner of openCypher's TCK drive the engine in process: `open()` gives one partition on memory storage, and
 * each scenario a tenant of its own in it, so that it begins with an empty graph.
 */
import "../../src/features/features.js";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { registerProcedure } from "../../src/cypher/bind/procedure.js";
import { DbError } from "../../src/protocol/errors.js";
import type { Batch } from "../../src/query/expr/expr.js";
import { Session } from "../../src/session/session.js";
import type { ResultShape, Rows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../src/values/temporal.js";
import { temporalToText } from "../../src/values/temporal-text.js";
import type { Value } from "../../src/values/values.js";
import { Float, GraphNode, GraphPath, GraphRelationship } from "../../src/values/variant.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { statementClient } from "./statement-client.js";
import { type ProcedureTable, tckProcedure } from "./tck-procedure.js";

const WAITS = { waits: true } as const;
const STATEMENT_MS_MAX = 20_000;

/** The TCK's model of values (tck/values.mjs): integers are bigints, floats numbers. */
function tckValue(value: Value): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === "bigint") return value;
  if (value instanceof Float) return value.value;
  if (Array.isArray(value)) return value.map(tckValue);
  if (value instanceof Map) return tckMap(value);
  if (value instanceof GraphNode) return tckNode(value);
  if (value instanceof GraphRelationship) return tckRelationship(value);
  if (value instanceof GraphPath) return tckPath(value);
  if (isTemporal(value)) return temporalToText(value);
  throw new Error(`no variant: ${String(value)}`);
}

function isTemporal(value: object): value is Temporal {
  return [CypherDate, LocalTime, ZonedTime, LocalDateTime, ZonedDateTime, Duration].some(
    (kind) => value instanceof kind,
  );
}

function tckMap(map: ReadonlyMap<string, Value>): object {
  return Object.fromEntries([...map].map(([key, value]) => [key, tckValue(value)]));
}

function tckNode({ labels, properties }: GraphNode): object {
  return { $node: { labels: [...labels], properties: tckMap(properties) } };
}

function tckRelationship({ type, properties }: GraphRelationship): object {
  return { $rel: { type, properties: tckMap(properties) } };
}

function tckPath({ nodes, relationships }: GraphPath): object {
  const forward = relationships.map(({ src }, i) => src === nodes[i]!.id);
  return { $path: { nodes: nodes.map(tckNode), rels: relationships.map(tckRelationship), forward } };
}

class TckRows implements Rows {
  readonly plain: unknown[][] = [];

  constructor(private readonly shape: ResultShape) {}

  append({ columns }: Batch, count: number): number {
    for (let r = 0; r < count; r++) this.plain.push(this.shape.outputs.map((_output, c) => tckValue(columns[c]![r]!)));
    return 0;
  }
}

/**
 * `inTurns`: every statement is run as those that took long without giving way are run again (src/session/overrun.ts).
 */
export async function open(inTurns = false) {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const procedures: (() => void)[] = [];
  let number = 0;
  let tenant = partition.tenant(++number);
  let session = newSession();

  function newSession(): Session {
    return new Session(tenant, {
      isolation: "serializable",
      readOnly: false,
      user: "tester",
      tenantName: "tester",
      control: "statements",
    });
  }

  async function run(cypher: string, params: Readonly<Record<string, unknown>>) {
    try {
      const outcome = await session.execute(
        {
          sql: cypher,
          params,
          language: "cypher",
          maxRows: 1_000_000,
          collector: (shape) => new TckRows(shape),
          request: statementClient(STATEMENT_MS_MAX),
          ...(inTurns && WAITS),
        },
        (tx) => tenant.commit(tx),
      );
      shard.flush();
      await applyBacklog(shard);
      return { columns: outcome.shape.outputs.map(({ name }) => name), rows: outcome.rows.plain as unknown[][] };
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const { type, phase, detail } = error.details ?? {};
      throw Object.assign(new Error(error.message), { type, phase, detail });
    }
  }

  return {
    /** Integers are told from floats. */
    typedNumbers: true,
    async reset(): Promise<void> {
      for (const takeAway of procedures.splice(0)) takeAway();
      tenant = partition.tenant(++number);
      session = newSession();
    },
    registerProcedure(signature: string, table: ProcedureTable): void {
      procedures.push(registerProcedure(tckProcedure(signature, table)));
    },
    run,
    close: () => shard.close(),
  };
}
