/**
 * POST /v1/graph/algorithms: an algorithm over a graph, as the statement `CALL algo.NAME({…})` that it stands for; with
 * `write_property` what each node got is stored with it.
 */
import { algorithmNamed } from "../../graph/algorithms/run-algorithm.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import { runAlone } from "../run-alone.js";
import { elapsedSince } from "../sql-result.js";
import type { Input } from "../validate.js";
import type { Handler } from "./handler.js";

export const graphAlgorithmHandlers = {
  "graph.algorithms": (request, { body }) => runAlgorithm(request, body),
} satisfies Partial<Record<EndpointName, Handler>>;

const quote = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

/** A label or type, several of them, or a condition over `n` or `r`. */
type Filter = string | readonly string[] | { readonly where: string };

class Statement {
  readonly params: Record<string, unknown> = {};
  private readonly head: string[] = [];
  private readonly options: string[] = [];

  option(name: string, value: unknown): void {
    const parameter = `p${Object.keys(this.params).length}`;
    this.params[parameter] = value;
    this.options.push(`${quote(name)}: $${parameter}`);
  }

  /** `match` binds `name`, of which the condition speaks; `option` takes labels or types, `ids` what is found. */
  filter(filter: Filter, field: string, names: { name: string; match: string; option: string; ids: string }): void {
    if (typeof filter === "string" || Array.isArray(filter)) {
      this.option(names.option, filter);
      return;
    }
    const { where } = filter as { readonly where: string };
    if (typeof where !== "string") {
      throw new DbError("invalid_request", `${field} is a name, a list of names, or {where: a condition}.`, { field });
    }
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

function runAlgorithm(request: Request, body: Input["body"]): Answer | Promise<Answer> {
  const started = performance.now();
  if (body.options !== undefined && body.params !== undefined) {
    throw new DbError("invalid_request", 'Send "options" or "params", not both.', { field: "params" });
  }
  const algorithm = algorithmNamed(body.algorithm);
  const statement = new Statement();
  for (const [name, value] of Object.entries(body.options ?? body.params ?? {})) statement.option(name, value);
  const nodes = { name: "n", match: "(n)", option: "node_labels", ids: "node_ids" };
  const edges = { name: "r", match: "()-[r]->()", option: "relationship_types", ids: "relationship_ids" };
  if (body.node_filter !== undefined) statement.filter(body.node_filter, "node_filter", nodes);
  if (body.edge_filter !== undefined) statement.filter(body.edge_filter, "edge_filter", edges);
  const fields = algorithm.columns.map(({ name, kind }) => (kind === "node" ? `${name}Id` : name));
  const rest = body.write_property === undefined ? returning(fields, body.limit) : writing(fields, body.write_property);
  const sql = statement.text(`algo.${algorithm.name}`, fields, rest);
  const text = { sql, params: statement.params, language: "cypher", graph: body.graph ?? "default" } as const;
  return runAlone(request, text, ({ rows, stats }) => {
    const common = { algorithm: algorithm.name, graph: text.graph, execution_time_ms: elapsedSince(started) };
    if (body.write_property !== undefined) return { plain: { ...common, written: rows.plain![0]![0], stats } };
    const columns = fields.map((field) => field.replace(/Id$/, "_id"));
    const results = rows.plain!.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
    return { plain: { ...common, columns, results, count: results.length } };
  });
}

function returning(fields: readonly string[], limit: number | undefined): string {
  return `RETURN ${fields.join(", ")}${limit === undefined ? "" : ` LIMIT ${limit}`}`;
}

/** Of algorithms that tell something of each node. */
function writing([node, value, ...others]: readonly string[], property: string): string {
  if (node !== "nodeId" || value === undefined || others.length > 0) {
    throw new DbError("invalid_request", "This algorithm does not give each node one value: it cannot be written.", {
      field: "write_property",
    });
  }
  return `MATCH (x) WHERE id(x) = nodeId SET x.${quote(property)} = ${value} RETURN count(*) AS written`;
}
