/** Reads parts of a graph by statements of Cypher. */
import { client } from "../../lib/session.js";
import { quotedLabel } from "../query/sidebar.js";

interface Matched {
  readonly rows: readonly (readonly unknown[])[];
}

const NEIGHBOURS_MAX = 300;
const STEPS_MAX = 12;
/** From so many relationships on, nodes are read by themselves. */
const MANY = 5_000;
const IDS_AT_ONCE = 10_000;

export class GraphReader {
  constructor(private readonly graph: string) {}

  private async match(
    cypher: string,
    parameters: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<readonly unknown[]> {
    const body = { cypher, parameters, graph: this.graph, max_rows: 1_000_000 };
    const sent = { body, idempotencyKey: "", ...(signal !== undefined && { signal }) };
    const { rows } = await client().request<Matched>("POST", "/v1/graph/match", sent);
    return rows.flat();
  }

  /** What an algorithm finds of each node of the whole graph. */
  async measures(algorithm: string, column: string): Promise<ReadonlyMap<number, number>> {
    const found = await this.match(`CALL algo.${algorithm}({}) YIELD nodeId, ${column} RETURN nodeId, ${column}`, {});
    const values = new Map<number, number>();
    for (let i = 0; i < found.length; i += 2) values.set(found[i] as number, found[i + 1] as number);
    return values;
  }

  async labels(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.match("CALL db.labels()", {}, signal)).map(String);
  }

  /** Relationships of nodes with that label, and such nodes without any. */
  async beginning(label: string, condition: string, limit: number): Promise<readonly unknown[]> {
    const node = label === "" ? "n" : `n:${quotedLabel(label)}`;
    const where = condition.trim() === "" ? "" : ` WHERE (${condition})`;
    if (limit >= MANY) return this.many(node, where, limit);
    const [joined, nodes] = await Promise.all([
      this.match(`MATCH (${node})-[r]-(m)${where} RETURN n, r, m LIMIT $limit`, { limit }),
      this.match(`MATCH (${node})${where} RETURN n LIMIT $limit`, { limit: Math.min(limit, NEIGHBOURS_MAX) }),
    ]);
    return [...joined, ...nodes];
  }

  /** Each node comes once, and not with each of its relationships. */
  private async many(node: string, where: string, limit: number): Promise<readonly unknown[]> {
    // Of all nodes, each relationship has one that it leaves.
    const isAll = node === "n" && where === "";
    const edges = await this.match(
      isAll
        ? "MATCH ()-[r]->() RETURN r LIMIT $limit"
        : `MATCH (${node})-[r]-()${where} RETURN DISTINCT r LIMIT $limit`,
      { limit },
    );
    const ids = new Set(
      (edges as readonly { readonly src: number; readonly dst: number }[]).flatMap(({ src, dst }) => [src, dst]),
    );
    const all = [...ids];
    const parts = Array.from({ length: Math.ceil(all.length / IDS_AT_ONCE) }, (_, i) =>
      all.slice(i * IDS_AT_ONCE, (i + 1) * IDS_AT_ONCE),
    );
    const nodes = await Promise.all(
      parts.map((some) => this.match("MATCH (n) WHERE id(n) IN $ids RETURN n", { ids: some })),
    );
    const lone = await this.lone(node, where, limit - edges.length);
    return [...nodes.flat(), ...lone, ...edges];
  }

  /** Nodes without relationships. */
  private async lone(node: string, where: string, limit: number): Promise<readonly unknown[]> {
    if (limit <= 0) return [];
    return this.match(`MATCH (${node})${where === "" ? " WHERE" : `${where} AND`} NOT (n)--() RETURN n LIMIT $limit`, {
      limit,
    });
  }

  neighbours(id: number): Promise<readonly unknown[]> {
    return this.match("MATCH (n)-[r]-(m) WHERE id(n) = $id RETURN n, r, m LIMIT $limit", { id, limit: NEIGHBOURS_MAX });
  }

  /** The path with the fewest steps; an error if there is none. */
  async way(from: number, to: number): Promise<readonly unknown[]> {
    const found = await this.match(
      `MATCH (a), (b) WHERE id(a) = $from AND id(b) = $to MATCH p = shortestPath((a)-[*..${STEPS_MAX}]-(b)) RETURN p`,
      { from, to },
    );
    if (found.length === 0) throw new Error(`There is no way of at most ${STEPS_MAX} steps between them.`);
    return found;
  }
}
