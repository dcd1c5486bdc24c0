/**
 * POST /v1/graph/algorithms, and the message `graph.algorithm`: an algorithm over a graph, as the statement `CALL
 * algo.NAME({…})` that it stands for; with
 * `write_property` what each node got is stored with it.
 */

import type { Handlers } from "../../actor/handler.js";
import { packedMessage } from "../../actor/reply.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import type { Input } from "../../bodies/validate.js";
import { algorithmNamed, meansNothing } from "../../graph/algorithms/run-algorithm.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { ProgressHearer, ProgressPhase } from "../../query/exec/context.js";
import { type Answer, STREAMED, type TextAnswer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { elapsedSince } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";
import { messageRows } from "../statements/message-rows.js";
import { RowStream } from "../statements/row-stream.js";
import { runAlone } from "../statements/run-alone.js";

export const graphAlgorithmHandlers = {
  "graph.algorithms": (request, { body }) => runAlgorithm(request, body),
  // The gateway puts the message's id where other endpoints have their first path variable.
  "graph.algorithms.message": (request, { body }) => streamAlgorithm(request, body, request.head.params[0]!),
} satisfies Handlers;

const quote = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

type Names = string | readonly string[];

/** Labels or types, as they are or under one of the names for them, or a condition over `n` or `r`. */
type Filter = Names | Readonly<Partial<Record<"label" | "labels" | "type" | "types" | "where", Names>>>;

interface FilterNames {
  readonly name: string;
  readonly match: string;
  readonly option: string;
  readonly ids: string;
  /** For messages. */
  readonly members: string;
}

class Statement {
  readonly params: Record<string, unknown> = {};
  private readonly head: string[] = [];
  private readonly options: string[] = [];

  option(name: string, value: unknown): void {
    const parameter = `p${Object.keys(this.params).length}`;
    this.params[parameter] = value;
    this.options.push(`${quote(name)}: $${parameter}`);
  }

  /** `match` binds `name`, which the condition is about; `option` takes labels or types, `ids` the results. */
  filter(filter: Filter, field: string, names: FilterNames): void {
    const isNames = typeof filter === "string" || Array.isArray(filter);
    const [[kind, value] = [], ...others] = isNames ? [["names", filter] as const] : Object.entries(filter);
    if (kind === undefined || others.length > 0) {
      const message = `${field} must be a name, a list of names, or one of {${names.members}} and {where: a condition}.`;
      throw new DbError("invalid_request", message, { field });
    }
    if (kind !== "where") {
      this.option(names.option, value);
      return;
    }
    const where = value as string;
    const carried = this.options.flatMap((option) => (option.endsWith("Ids") ? [option.split(": ")[1]!] : []));
    this.head.push(`MATCH ${names.match} WHERE ${where}
WITH ${[...carried, `collect(id(${names.name})) AS ${names.name}Ids`].join(", ")}`);
    this.options.push(`${names.ids}: ${names.name}Ids`);
  }

  text(procedure: string, yields: readonly string[], rest: string): string {
    const call = `CALL ${procedure}({${this.options.join(", ")}}) YIELD ${yields.join(", ")}`;
    return [...this.head, call, rest].join("\n");
  }
}

/** What is asked: the statement, and what the answer says beside its rows. */
interface Asked {
  readonly text: StatementText;
  readonly common: { readonly algorithm: string; readonly graph: string };
  /** Nodes get a property; there are no rows. */
  readonly writes: boolean;
  /** Of options that are not used. */
  readonly warnings: readonly string[];
}

function asked(body: Input["body"]): Asked {
  if (body.options !== undefined && body.params !== undefined) {
    throw new DbError("invalid_request", 'Send "options" or "params", not both.', { field: "params" });
  }
  const algorithm = algorithmNamed(body.algorithm);
  const statement = new Statement();
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(body.options ?? body.params ?? {})) {
    if (meansNothing(algorithm, name)) {
      warnings.push(`The option "${name}" is not used: ${algorithm.name} has none of that name.`);
    } else statement.option(name, value);
  }
  const nodes = { name: "n", match: "(n)", option: "node_labels", ids: "node_ids", members: "label" };
  const edges = {
    name: "r",
    match: "()-[r]->()",
    option: "relationship_types",
    ids: "relationship_ids",
    members: "type",
  };
  if (body.node_filter !== undefined) statement.filter(body.node_filter, "node_filter", nodes);
  if (body.edge_filter !== undefined) statement.filter(body.edge_filter, "edge_filter", edges);
  const fields = algorithm.columns.map(({ name, kind }) => (kind === "node" ? `${name}Id` : name));
  const writes = body.write_property !== undefined;
  const rest = writes ? writing(fields, body.write_property) : returning(fields, body.limit);
  const sql = statement.text(`algo.${algorithm.name}`, fields, rest);
  const graph = body.graph ?? "default";
  const text = { sql, params: statement.params, language: "cypher", graph } as const;
  return { text, common: { algorithm: algorithm.name, graph }, writes, warnings };
}

function runAlgorithm(request: Request, body: Input["body"]): Promise<Answer<ResponseOf<"graph.algorithms">>> {
  const started = performance.now();
  const { text, common, writes, warnings } = asked(body);
  request.warnings = [...request.warnings, ...warnings];
  return namingOptions(body, () =>
    runAlone<ResponseOf<"graph.algorithms">>(request, text, ({ rows, shape, stats }) => {
      const plain = rows.plain!;
      const took = { execution_time_ms: elapsedSince(started) };
      const changed = stats === null ? {} : { stats };
      if (writes) return { plain: { ...common, ...took, written: Number(plain[0]![0]), ...changed } };
      const columns = shape.outputs.map(({ name }) => name);
      const results = plain.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
      return { plain: { ...common, ...took, columns, results, count: results.length } };
    }),
  );
}

/** Faults of options name the field that the client sent them in. */
async function namingOptions<T>(body: Input["body"], run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const field = error instanceof DbError ? error.details?.field : undefined;
    if (!(error instanceof DbError) || body.params === undefined || typeof field !== "string") throw error;
    throw new DbError(error.code, error.message, { ...error.details, field: field.replace(/^options\./, "params.") });
  }
}

/** The same for a message: how far it is comes as messages, then rows in pieces. */
async function streamAlgorithm(request: Request, body: Input["body"], id: string): Promise<TextAnswer> {
  const started = performance.now();
  const { text, common, writes, warnings } = asked(body);
  request.warnings = [...request.warnings, ...warnings];
  const format = messageRows(id, request.wantsMsgpack, "graph");
  const sink = await request.openReply(format.contentType, []);
  sink.errorText = format.errorText;
  request.progress = progressMessages(sink, id, request.wantsMsgpack);
  const session = new Session(request.tenant, sessionOptions(request, "routes"));
  const stream = new RowStream(request, format);
  try {
    const run = { ...text, maxRows: Number.MAX_SAFE_INTEGER, collector: stream.collector, request };
    const { stats } = await session.execute(run, (tx) => request.commitPart(tx));
    const counted = writes ? stats !== null && { stats } : { row_count: stream.rowCount };
    await stream.finish({ ...common, ...counted, execution_time_ms: elapsedSince(started) });
    return STREAMED;
  } finally {
    stream.close();
  }
}

/** Milliseconds between two messages of one phase. */
const PROGRESS_MS = 100;

/** A client that does not read gets fewer reports. */
function progressMessages(sink: ReplySink, id: string, packed: boolean): ProgressHearer {
  let last: ProgressPhase | null = null;
  let toldMs = 0;
  let isWaiting = false;
  return (phase, done) => {
    const now = performance.now();
    if (isWaiting || (phase === last && now - toldMs < PROGRESS_MS)) return;
    last = phase;
    toldMs = now;
    const message = `{"type":"graph.progress","id":${id},"phase":"${phase}","progress":${done}}`;
    const pending = sink.write(packed ? packedMessage(message) : Buffer.from(message));
    if (pending === undefined) return;
    isWaiting = true;
    // Whether the client has gone is noticed by whoever runs the statement.
    const goOn = (): void => {
      isWaiting = false;
    };
    pending.then(goOn, goOn);
  };
}

function returning(fields: readonly string[], limit: number | undefined): string {
  const columns = fields.map((field) => (field.endsWith("Id") ? `${field} AS ${field.slice(0, -2)}_id` : field));
  return `RETURN ${columns.join(", ")}${limit === undefined ? "" : ` LIMIT ${limit}`}`;
}

/** Of algorithms that tell something of each node. */
function writing([node, value, ...others]: readonly string[], property: string): string {
  if (node !== "nodeId" || value === undefined || others.length > 0) {
    throw new DbError(
      "invalid_request",
      "This algorithm does not compute one value per node, so its result cannot be written to a property.",
      {
        field: "write_property",
      },
    );
  }
  return `MATCH (x) WHERE id(x) = nodeId SET x.${quote(property)} = ${value} RETURN count(*) AS written`;
}
