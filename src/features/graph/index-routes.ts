/** /v1/graph/indexes: what Cypher's CREATE INDEX and CREATE CONSTRAINT make. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input } from "../../bodies/validate.js";
import type { GraphTables } from "../../catalog/graph.js";
import { DEFAULT_GRAPH, graphDefOf, graphOf } from "../../catalog/graph.js";
import type { GraphCommand } from "../../catalog/graph-command.js";
import { requireGraph } from "../../catalog/graph-rights.js";
import { parseCypher } from "../../cypher/parse/parse.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { after } from "../../query/exec/operator.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { noGraph } from "../../session/ensure-graph.js";
import { runAlone } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";

export const graphIndexHandlers = {
  "graph.indexes.list": (request, { query }) => listIndexes(request, query.graph, usualPageOf(query)),
  "graph.indexes.create": (request, { body }) => {
    const made = body.statement === undefined ? run(request, createCommand(body)) : runStatement(request, body);
    return after(made, () => listIndexes(request, body.graph, ALL));
  },
  "graph.indexes.delete": (request, { params, query }) => removeIndex(request, query.graph, params.name!),
} satisfies Handlers;

type Listed = ResponseOf<"graph.indexes.list">;

interface IndexInfo {
  readonly name: string;
  readonly entity: "node" | "relationship";
  readonly label: string;
  readonly properties: readonly string[];
  readonly unique: boolean;
  readonly what: "index" | "constraint";
}

function run(request: Request, command: GraphCommand): TextAnswer | Promise<TextAnswer> {
  return runAlone(request, { sql: "", params: [], command, graph: command.graph }, () => ({}));
}

/** Throws invalid_request for a statement of another kind, and for other fields beside it. */
function runStatement(request: Request, { statement, graph = DEFAULT_GRAPH, ...rest }: Input["body"]) {
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new DbError("invalid_request", `Send "statement" or "${other}", not both.`, { field: other });
  }
  const { body, graph: used = graph } = parseCypher(statement);
  if (used !== graph) {
    throw new DbError("invalid_request", `Send the graph as "graph", not with USE ${used}.`, { field: "statement" });
  }
  const { kind } = body;
  if (kind !== "create-index" && kind !== "create-constraint") {
    const message = '"statement" must be CREATE INDEX or CREATE CONSTRAINT. Send other statements to /v1/graph/match.';
    throw new DbError("invalid_request", message, { field: "statement" });
  }
  return runAlone(request, { sql: statement, params: {}, language: "cypher", graph }, () => ({}));
}

/** The default graph is empty until somebody names it. Throws 42501 where the caller may not read the graph. */
function indexesOf(request: Request, name: string = DEFAULT_GRAPH): readonly IndexInfo[] {
  const graph = withDefinitions(request, (catalog) => {
    const found = graphOf(catalog, name);
    if (found !== null) requireGraph(rightsOfCaller(request.head)(catalog), found);
    return found;
  });
  if (graph === null && name !== DEFAULT_GRAPH) throw noGraph(name);
  return graph === null ? [] : describe(graph);
}

function describe({ nodes, edges }: GraphTables): readonly IndexInfo[] {
  return [nodes, edges].flatMap((table) => {
    const { of, indexes = [], constraints = [] } = graphDefOf(table)!;
    const entity = of === "nodes" ? "node" : "relationship";
    return [
      ...indexes.map(({ name, label, properties }) => ({ name, label, properties, unique: false, what: "index" })),
      ...constraints.map(({ name, label, properties, requires }) => {
        return { name, label, properties, unique: requires === "unique" || requires === "key", what: "constraint" };
      }),
    ].map((found) => ({ entity, ...found }) as IndexInfo);
  });
}

const ALL = { limit: Number.POSITIVE_INFINITY, offset: 0 };

function listIndexes(request: Request, graph: string | undefined, { limit, offset }: typeof ALL): Answer<Listed> {
  const indexes = indexesOf(request, graph);
  return { plain: { indexes: indexes.slice(offset, offset + limit), count: indexes.length } };
}

function createCommand(body: Input["body"]): GraphCommand {
  const { label, type, property, properties, name = null, unique = false, graph = DEFAULT_GRAPH } = body;
  if ((label === undefined) === (type === undefined)) {
    throw new DbError("invalid_request", 'Send "label" (of nodes) or "type" (of relationships).', { field: "label" });
  }
  if ((property === undefined) === (properties === undefined)) {
    throw new DbError("invalid_request", 'Send "property" or "properties".', { field: "properties" });
  }
  const subject = {
    graph,
    name,
    ifNotExists: false,
    of: label === undefined ? "edges" : "nodes",
    label: label ?? type,
    properties: properties ?? [property],
  } as const;
  if (unique) return { kind: "create graph constraint", requires: "unique", ...subject };
  return { kind: "create graph index", method: "range", ...subject };
}

function removeIndex(request: Request, graph: string = DEFAULT_GRAPH, name: string): TextAnswer | Promise<TextAnswer> {
  const found = indexesOf(request, graph).find((index) => index.name === name);
  if (found === undefined) throw new DbError("not_found", `The index "${name}" does not exist.`, { name });
  const { what } = found;
  return run(request, { kind: "drop graph index", what, graph, name, label: null, properties: [], ifExists: false });
}
