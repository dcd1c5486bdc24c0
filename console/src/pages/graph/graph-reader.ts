/** Reads parts of a graph by statements of Cypher. */
import { plural } from "../../lib/format.js";
import { client } from "../../lib/session.js";
import { quotedLabel } from "../query/sidebar.js";

interface Matched {
  readonly rows: readonly (readonly unknown[])[];
}

const NEIGHBOURS_MAX = 300;
const STEPS_MAX = 12;
const IDS_AT_ONCE = 10_000;

/** A part of a graph. */
export interface GraphPart {
  readonly values: readonly unknown[];
  /** What was left out, in words; "": nothing. */
  readonly leftOut: string;
}

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

  /**
   * Relationships of nodes with that label, with their nodes, and such nodes without any. Each node comes once, and not
   * with each of its relationships.
   */
  async beginning(label: string, condition: string, limit: number): Promise<GraphPart> {
    const node = label === "" ? "n" : `n:${quotedLabel(label)}`;
    const where = condition.trim() === "" ? "" : ` WHERE (${condition})`;
    // Of all nodes, each relationship has one that it leaves.
    const isAll = node === "n" && where === "";
    const found = await this.match(
      isAll
        ? "MATCH ()-[r]->() RETURN r LIMIT $limit"
        : `MATCH (${node})-[r]-()${where} RETURN DISTINCT r LIMIT $limit`,
      // One more tells whether there are more.
      { limit: limit + 1 },
    );
    const edges = found.slice(0, limit) as readonly { readonly src: number; readonly dst: number }[];
    const nodes = await this.nodes([...new Set(edges.flatMap(({ src, dst }) => [src, dst]))]);
    if (found.length > limit) {
      const leftOut = `These are the first ${plural(limit, "relationship")}: there are more.`;
      return { values: [...nodes, ...edges], leftOut };
    }
    const room = limit - edges.length;
    const lone = await this.lone(node, where, room + 1);
    const leftOut = lone.length > room ? "There are more nodes without relationships." : "";
    return { values: [...nodes, ...lone.slice(0, room), ...edges], leftOut };
  }

  private async nodes(ids: readonly number[]): Promise<readonly unknown[]> {
    const parts = Array.from({ length: Math.ceil(ids.length / IDS_AT_ONCE) }, (_, i) =>
      ids.slice(i * IDS_AT_ONCE, (i + 1) * IDS_AT_ONCE),
    );
    const nodes = await Promise.all(
      parts.map((some) => this.match("MATCH (n) WHERE id(n) IN $ids RETURN n", { ids: some })),
    );
    return nodes.flat();
  }

  /** Nodes without relationships. */
  private lone(node: string, where: string, limit: number): Promise<readonly unknown[]> {
    return this.match(`MATCH (${node})${where === "" ? " WHERE" : `${where} AND`} NOT (n)--() RETURN n LIMIT $limit`, {
      limit,
    });
  }

  async neighbours(id: number): Promise<GraphPart> {
    const found = await this.match("MATCH (n)-[r]-(m) WHERE id(n) = $id RETURN n, r, m LIMIT $limit", {
      id,
      limit: NEIGHBOURS_MAX + 1,
    });
    const isCut = found.length > NEIGHBOURS_MAX * 3;
    return {
      values: found.slice(0, NEIGHBOURS_MAX * 3),
      leftOut: isCut ? `The node has more than the ${NEIGHBOURS_MAX} relationships that were read.` : "",
    };
  }

  /** The path with the fewest steps; an error if there is none. */
  async way(from: number, to: number): Promise<GraphPart> {
    const found = await this.match(
      `MATCH (a), (b) WHERE id(a) = $from AND id(b) = $to MATCH p = shortestPath((a)-[*..${STEPS_MAX}]-(b)) RETURN p`,
      { from, to },
    );
    if (found.length === 0) throw new Error(`There is no way of at most ${STEPS_MAX} steps between them.`);
    return { values: found, leftOut: "" };
  }
}
