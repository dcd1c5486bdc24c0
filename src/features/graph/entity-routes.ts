/** /v1/graph/nodes and /v1/graph/edges, each request one Cypher statement (or two in one transaction). */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { pageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import type { Outcome } from "../../session/sql-result.js";
import { rowsOf, runAlone } from "../statements/run-alone.js";

const PER_PAGE = 100;

export const graphEntityHandlers = {
  "graph.nodes.create": createNode,
  "graph.nodes.list": (request, { query }) =>
    list(
      request,
      query,
      NODE,
      `MATCH (x${query.label === undefined ? "" : `:${quote(query.label)}`})`,
      (nodes, count) => ({
        nodes,
        count,
      }),
    ),
  "graph.nodes.get": (request, { params, query }) => one(request, query.graph, params.id!, NODE),
  "graph.nodes.update": updateNode,
  "graph.nodes.delete": (request, { params, query }) =>
    remove(request, query.graph, params.id!, NODE, query.detach !== "false"),
  "graph.nodes.neighbors": neighbors,
  "graph.edges.create": createEdge,
  "graph.edges.list": (request, { query }) =>
    list(
      request,
      query,
      EDGE,
      `MATCH ()-[x${query.type === undefined ? "" : `:${quote(query.type)}`}]->()`,
      (edges, count) => ({
        edges,
        count,
      }),
    ),
  "graph.edges.get": (request, { params, query }) => one(request, query.graph, params.id!, EDGE),
  "graph.edges.update": (request, { params, query, body }) =>
    write(
      request,
      graphOf(query, body),
      `${EDGE.match} SET x += $properties RETURN x`,
      {
        id: Number(params.id),
        properties: body.properties,
      },
      (outcome) => found(outcome, EDGE, params.id!),
    ),
  "graph.edges.delete": (request, { params, query }) => remove(request, query.graph, params.id!, EDGE, false),
} satisfies Handlers;

/** What is addressed by its id, as `x`. */
interface Entity<T> {
  readonly name: string;
  readonly match: string;
  /** What a statement answers for `x`. */
  readonly of: (cell: unknown) => T;
}

type Node = ResponseOf<"graph.nodes.get">;
type Edge = ResponseOf<"graph.edges.get">;

const NODE: Entity<Node> = { name: "node", match: "MATCH (x) WHERE id(x) = $id", of: (cell) => cell as Node };
const EDGE: Entity<Edge> = { name: "edge", match: "MATCH ()-[x]->() WHERE id(x) = $id", of: (cell) => cell as Edge };

/** A label or a type, as written in a statement. */
function quote(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

function labelsText(labels: readonly string[]): string {
  return labels.map((label) => `:${quote(label)}`).join("");
}

/** The route's own parameter and the body's field name the same graph. */
function graphOf(query: Input["query"], body: { readonly graph?: string } = {}): string | undefined {
  return query.graph ?? body.graph;
}

function write<T>(
  request: Request,
  graph: string | undefined,
  cypher: string,
  params: Readonly<Record<string, unknown>>,
  answerOf: (outcome: Outcome) => Answer<T>,
): Answer<T> | Promise<Answer<T>> {
  const text = { sql: cypher, params, language: "cypher", ...(graph !== undefined && { graph }) } as const;
  return runAlone(request, text, answerOf);
}

/** The statement's only cell. Throws not_found. */
function found<T>({ rows }: Outcome, { name, of }: Entity<T>, id: string): Answer<T> {
  const [row] = rows.plain!;
  if (row === undefined) throw new DbError("not_found", `The ${name} ${id} does not exist.`, { id: Number(id) });
  return { plain: of(row[0]) };
}

function one<T>(
  request: Request,
  graph: string | undefined,
  id: string,
  entity: Entity<T>,
): Answer<T> | Promise<Answer<T>> {
  return write(request, graph, `${entity.match} RETURN x`, { id: Number(id) }, (outcome) => found(outcome, entity, id));
}

function remove(
  request: Request,
  graph: string | undefined,
  id: string,
  entity: Entity<unknown>,
  detach: boolean,
): TextAnswer | Promise<TextAnswer> {
  const cypher = `${entity.match} ${detach ? "DETACH " : ""}DELETE x RETURN id(x)`;
  return write(request, graph, cypher, { id: Number(id) }, (outcome) => {
    found(outcome, entity, id);
    return {};
  });
}

function list<T, A>(
  request: Request,
  query: Input["query"],
  { of }: Entity<T>,
  match: string,
  page: (entities: readonly T[], count: number) => A,
): Answer<A> | Promise<Answer<A>> {
  const { limit = PER_PAGE, offset = 0 } = pageOf(query);
  const cypher = `${match} RETURN x ORDER BY id(x) SKIP $offset LIMIT $limit`;
  return write(request, query.graph, cypher, { limit, offset }, ({ rows }) => {
    const entities = rows.plain!.map(([entity]) => of(entity));
    return { plain: page(entities, entities.length) };
  });
}

function createNode(request: Request, { body }: InputOf<"graph.nodes.create">): Answer<Node> | Promise<Answer<Node>> {
  if (body.labels !== undefined && body.label !== undefined) {
    throw new DbError("invalid_request", 'Send "labels" or "label", not both.', { field: "label" });
  }
  const labels: readonly string[] = body.labels ?? (body.label === undefined ? [] : [body.label]);
  const cypher = `CREATE (x${labelsText(labels)} $properties) RETURN x`;
  return write(request, body.graph, cypher, { properties: body.properties ?? {} }, ({ rows }) => ({
    plain: NODE.of(rows.plain![0]![0]),
  }));
}

async function updateNode(
  request: Request,
  { params, query, body }: InputOf<"graph.nodes.update">,
): Promise<Answer<Node>> {
  const graph = graphOf(query, body);
  const values = { id: Number(params.id), properties: body.properties ?? {} };
  if (body.labels === undefined) {
    const cypher = `${NODE.match} SET x += $properties RETURN x`;
    return write(request, graph, cypher, values, (outcome) => found(outcome, NODE, params.id!));
  }
  const labels: readonly string[] = [...new Set<string>(body.labels)];
  const added = labels.length === 0 ? "" : ` SET x${labelsText(labels)}`;
  const text = { sql: `${NODE.match} RETURN labels(x)`, params: { id: values.id }, language: "cypher" } as const;
  for (;;) {
    const [row] = await rowsOf(request, { ...text, ...(graph !== undefined && { graph }) });
    const former = (row?.[0] ?? []) as readonly string[];
    const gone = former.filter((label) => !labels.includes(label));
    const removed = gone.length === 0 ? "" : ` REMOVE x${labelsText(gone)}`;
    // If others have changed its labels, they are read again.
    const same = row === undefined ? "" : " AND labels(x) = $former";
    const cypher = `${NODE.match}${same} SET x += $properties${added}${removed} RETURN x`;
    let isSame = true;
    const answer = await write(request, graph, cypher, { ...values, former }, (outcome) => {
      isSame = row === undefined || outcome.rows.plain!.length > 0;
      return isSame ? found(outcome, NODE, params.id!) : {};
    });
    if (isSame) return answer;
    request.checkpoint();
  }
}

const ARROWS = { out: ["-", "->"], in: ["<-", "-"], both: ["-", "-"] } as const;

type Neighbors = ResponseOf<"graph.nodes.neighbors">;

function neighbors(
  request: Request,
  { params, query }: InputOf<"graph.nodes.neighbors">,
): Answer<Neighbors> | Promise<Answer<Neighbors>> {
  const { limit = PER_PAGE, offset = 0 } = pageOf(query);
  const [left, right] = ARROWS[(query.direction ?? "both") as keyof typeof ARROWS];
  const type = query.type === undefined ? "" : `:${quote(query.type)}`;
  const cypher = `${NODE.match} OPTIONAL MATCH (x)${left}[r${type}]${right}(y)
    RETURN y AS node, r AS edge ORDER BY id(r) SKIP $offset LIMIT $limit`;
  const values = { id: Number(params.id), limit, offset };
  return write(request, query.graph, cypher, values, (outcome) => {
    const rows = outcome.rows.plain!;
    if (rows.length === 0 && offset === 0) found(outcome, NODE, params.id!);
    const met = rows.flatMap(([node, edge]) => (node === null ? [] : [{ node: NODE.of(node), edge: EDGE.of(edge) }]));
    const nodes = [...new Map(met.map(({ node }) => [node.id, node])).values()];
    const edges = met.map(({ edge }) => edge);
    return { plain: { neighbors: met, nodes, edges, count: met.length } };
  });
}

function end(body: Input["body"], name: "src" | "dst", other: "from" | "to"): number {
  const given = body[name] ?? body[other];
  if (given !== undefined && (body[name] === undefined || body[other] === undefined)) return Number(given);
  throw new DbError("invalid_request", `Send the id of a node as "${name}" (or "${other}"), once.`, { field: name });
}

function createEdge(request: Request, { body }: InputOf<"graph.edges.create">): Answer<Edge> | Promise<Answer<Edge>> {
  const src = end(body, "src", "from");
  const dst = end(body, "dst", "to");
  const cypher = `MATCH (a), (b) WHERE id(a) = $src AND id(b) = $dst
    CREATE (a)-[x:${quote(body.type)} $properties]->(b) RETURN x`;
  const values = { src, dst, properties: body.properties ?? {} };
  return write(request, body.graph, cypher, values, ({ rows }) => {
    const [row] = rows.plain!;
    if (row !== undefined) return { plain: EDGE.of(row[0]) };
    throw new DbError("not_found", `The node ${src} or ${dst} does not exist.`, { src, dst });
  });
}
