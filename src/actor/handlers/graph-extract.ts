/**
 * POST /v1/graph/extract: names and relations of a text as nodes and edges; with `store` they are merged into the graph, by
 * name and type.
 */
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import { runAlone } from "../run-alone.js";
import type { Input } from "../validate.js";
import type { Handler } from "./handler.js";

export const graphExtractHandlers = {
  "graph.extract": extract,
} satisfies Partial<Record<EndpointName, Handler>>;

/** One statement, so all of it is stored or nothing. Labels and types stand in the text, grouped; all else is bound. */
const quote = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

async function extract(request: Request, { body }: Input): Promise<Answer> {
  const { tasks } = request.tenant.partition;
  if (tasks === null) throw new DbError("not_supported", "This process has no task threads.");
  const { nodes, edges } = await tasks.extractGraph(body.text);
  request.checkpoint();
  const found = { nodes, edges, graph: body.graph ?? "default", extractor: "rules" };
  if (body.store !== true || nodes.length === 0) return { plain: { ...found, stored: false } };
  const types = new Map(nodes.map(({ name, type }) => [name, type]));
  const clauses: string[] = [];
  const params: Record<string, unknown> = {};
  for (const [type, rows] of grouped(nodes, ({ type }) => type)) {
    const name = `nodes${clauses.length}`;
    params[name] = rows.map(({ name, confidence }) => ({ name, confidence }));
    clauses.push(
      `UNWIND $${name} AS row MERGE (n:${quote(type)} {name: row.name}) ON CREATE SET n.confidence = row.confidence`,
      "WITH count(*) AS done",
    );
  }
  for (const [key, rows] of grouped(edges, ({ from, to, type }) =>
    JSON.stringify([types.get(from), type, types.get(to)]),
  )) {
    const [source, type, target] = JSON.parse(key) as string[];
    const name = `edges${clauses.length}`;
    params[name] = rows.map(({ from, to, confidence }) => ({ from, to, confidence }));
    clauses.push(
      `UNWIND $${name} AS row
       MATCH (a:${quote(source!)} {name: row.from}), (b:${quote(target!)} {name: row.to})
       MERGE (a)-[r:${quote(type!)}]->(b) ON CREATE SET r.confidence = row.confidence`,
      "WITH count(*) AS done",
    );
  }
  const sql = `${clauses.join("\n")} RETURN done`;
  const text = { sql, params, language: "cypher", ...(body.graph !== undefined && { graph: body.graph }) } as const;
  return runAlone(request, text, ({ stats }) => ({
    plain: { ...found, stored: true, ...(stats !== null && { stats }) },
  }));
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
