/** /v1/graph/match, /graphs and /indexes: Cypher, and what there is in the way of graphs. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { InputOf } from "../../bodies/validate.js";
import { graphOf, graphsOf } from "../../catalog/graph.js";
import { mayReadGraph } from "../../catalog/graph-rights.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { measureTable } from "../../query/exec/measure-table.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { noGraph } from "../../session/ensure-graph.js";
import { elapsedSince, JsonRows, type Outcome, plainRows, type RowCollector } from "../../session/sql-result.js";
import type { ParameterValues } from "../../session/statement-run.js";
import { runAlone } from "../statements/run-alone.js";
import { runOf } from "../statements/run-body.js";
import { withDefinitions } from "../statements/with-definitions.js";

interface MatchBody {
  readonly cypher?: string;
  readonly sql?: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly graph?: string;
  readonly max_rows?: number;
  readonly timeout_secs?: number;
}

export const graphHandlers = {
  "graph.match": (request, { body }) => match(request, body),
  "graph.match.profile": (request, { body }) => profile(request, body),
  "graph.graphs.list": listGraphs,
  "graph.graphs.create": (request, { body }) => makeGraph(request, body.name),
  "graph.graphs.delete": (request, { params }) => removeGraph(request, params.name!),
} satisfies Handlers;

function textOf({ cypher, sql }: MatchBody): string {
  if ((cypher === undefined) === (sql === undefined)) {
    throw new DbError("invalid_request", 'Send the statement either as "cypher" or as "sql".', { field: "cypher" });
  }
  return (cypher ?? sql)!;
}

type Matched = Answer<ResponseOf<"graph.match">>;
type Profiled = Answer<ResponseOf<"graph.match.profile">>;
type Made = Answer<ResponseOf<"graph.graphs.create">>;
type Listed = ResponseOf<"graph.graphs.list">;

function match(request: Request, body: MatchBody): Matched | Promise<Matched> {
  const started = performance.now();
  const text = textOf(body);
  const collector: RowCollector = request.wantsMsgpack ? plainRows : (shape) => new JsonRows(shape);
  const run = runOf(request, { ...body, sql: text, language: "cypher" }, body, collector);
  return runAlone(request, run, (outcome) => matchAnswer(outcome, started));
}

function matchAnswer({ shape, rows, truncated, stats }: Outcome, started: number): Matched {
  const columns = shape.outputs.map(({ name }) => name);
  const rest = {
    count: rows.count ?? rows.plain!.length,
    execution_time_ms: elapsedSince(started),
    ...(stats !== null && { stats }),
    ...(truncated && { truncated }),
  };
  if (rows.json === undefined) return { plain: { columns, rows: rows.plain!, ...rest } };
  return { json: `{"columns":${JSON.stringify(columns)},"rows":[${rows.json}],${JSON.stringify(rest).slice(1)}` };
}

function profile(request: Request, body: MatchBody): Profiled | Promise<Profiled> {
  const started = performance.now();
  const text = textOf(body);
  const sql = /^\s*(explain|profile)\b/i.test(text) ? text : `PROFILE ${text}`;
  const run = runOf(request, { ...body, sql, language: "cypher" }, body, plainRows);
  return runAlone(request, run, ({ rows }) => ({
    plain: { plan: rows.plain!.map(([line]) => line as string), execution_time_ms: elapsedSince(started) },
  }));
}

/**
 * Those that the caller may read, all in one snapshot: a graph may go while its size is taken. Sizes are told to those
 * who may read all of a graph.
 */
async function listGraphs(request: Request, { query }: InputOf<"graph.graphs.list">): Promise<Answer<Listed>> {
  const { tenant } = request;
  const { limit, offset } = usualPageOf(query);
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const graphs: Listed["graphs"][number][] = [];
    const catalog = tenant.catalog.view(tx);
    const rights = rightsOfCaller(request.head)(catalog);
    const all = graphsOf(catalog).filter((graph) => mayReadGraph(rights, graph));
    for (const { name, nodes, edges } of all.slice(offset, offset + limit)) {
      if (![nodes, edges].every(({ id }) => rights.mayAll(id, ["r"]))) {
        graphs.push({ name });
        continue;
      }
      const node_count = (await measureTable(tx, tenant.number, nodes, request)).rows;
      const edge_count = (await measureTable(tx, tenant.number, edges, request)).rows;
      const adjacency = tenant.partition.derived.progress(tenant.number, edges.id);
      graphs.push({ name, node_count, edge_count, ...(adjacency !== null && { adjacency_bytes: adjacency.bytes }) });
    }
    return { plain: { graphs, count: all.length } };
  } finally {
    tx.rollback();
  }
}

function makeGraph(request: Request, name: string): Made | Promise<Made> {
  const command = { kind: "create graph", graph: name, ifNotExists: false } as const;
  return runAlone(request, { sql: "", params: [], command }, () => ({
    plain: { name, node_count: 0, edge_count: 0 },
  }));
}

function removeGraph(request: Request, name: string): TextAnswer | Promise<TextAnswer> {
  if (withDefinitions(request, (catalog) => graphOf(catalog, name)) === null) throw noGraph(name);
  const command = { kind: "drop graph", graph: name, ifExists: false } as const;
  return runAlone(request, { sql: "", params: [], command }, () => ({}));
}
