/** Reads parts of a graph by statements of Cypher. */
import { client } from "../../lib/session.js";
import { quotedLabel } from "../query/sidebar.js";

interface Matched {
  readonly rows: readonly (readonly unknown[])[];
}

const NEIGHBOURS_MAX = 300;
const STEPS_MAX = 12;

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

  async labels(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.match("CALL db.labels()", {}, signal)).map(String);
  }

  /** Relationships of nodes with that label, and such nodes without any. */
  async beginning(label: string, condition: string, limit: number): Promise<readonly unknown[]> {
    const node = label === "" ? "n" : `n:${quotedLabel(label)}`;
    const where = condition.trim() === "" ? "" : ` WHERE ${condition}`;
    const [joined, nodes] = await Promise.all([
      this.match(`MATCH (${node})-[r]-(m)${where} RETURN n, r, m LIMIT $limit`, { limit }),
      this.match(`MATCH (${node})${where} RETURN n LIMIT $limit`, { limit: Math.min(limit, NEIGHBOURS_MAX) }),
    ]);
    return [...joined, ...nodes];
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
