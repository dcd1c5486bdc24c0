/**
 * Which of the names in a statement its graph does not have: what Neo4j warns of as unknown labels, types and property
 * keys. What was found once is not looked for again, because misspelled names are what this is for. One per session,
 * so that each user's policies decide what is found.
 *
 * Labels have an index. Of types and keys only the first entities are looked at, and where there are more, nothing is
 * said of those that were not found.
 */
import { quotedName } from "../../cypher/bind/schema-procedures.js";
import type { Hints, NameAt } from "../../cypher/hints/hints.js";
import type { Missing } from "./notifications.js";

/** Gives the only row of a query of Cypher that reads, in the graph of that name. */
export type ReadRow = (cypher: string, graph: string) => Promise<readonly unknown[]>;

/** Entities that are looked at. */
const ENTITIES_MAX = 2000;
/**
 * Names that were missing are looked for again after that time. Before, they are told if nothing was committed since,
 * and else nothing is said of them.
 */
const AGAIN_MS = 1000;
/** Of one statement, for each kind of name. */
const NAMES_MAX = 50;
/** Statements make up names without end. */
const KNOWN_MAX = 10_000;

const ENTITIES = {
  types: "MATCH ()-[e]->()",
  nodes: "MATCH (e)",
} as const;

type Kind = keyof Missing;

interface Known {
  readonly isThere: boolean;
  /** When it was looked for, and what was seen then; null: nobody knows whether it is there. */
  readonly atMs: number;
  readonly state: string | null;
}

const keyOf = (kind: Kind, graph: string, name: string): string => `${kind} ${graph} ${name}`;

export class MissingNames {
  /** By kind, graph and name. */
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly readRow: ReadRow,
    private readonly nowMs: () => number,
  ) {}

  /** `state`: of what is seen; null: it may have changed by what is not committed. */
  async of(hints: Hints, graph: string, state: string | null): Promise<Missing> {
    const labels = await this.missing("labels", hints.labels, { graph, state }, (names) => this.labels(names, graph));
    const types = await this.missing("types", hints.types, { graph, state }, () => this.types(graph));
    const keys = await this.missing("keys", hints.keys, { graph, state }, () => this.keys(graph));
    return { labels, types, keys };
  }

  /** `find` gives those of the names that there are, and perhaps others; null: nobody knows. */
  private async missing(
    kind: Kind,
    names: readonly NameAt[],
    { graph, state }: { readonly graph: string; readonly state: string | null },
    find: (names: readonly string[]) => Promise<ReadonlySet<string> | null>,
  ): Promise<readonly NameAt[]> {
    const now = this.nowMs();
    const missing = new Set<string>();
    const due = new Set<string>();
    for (const { name } of names) {
      const known = this.known.get(keyOf(kind, graph, name));
      if (known === undefined || (!known.isThere && now - known.atMs >= AGAIN_MS)) due.add(name);
      else if (!known.isThere && known.state !== null && known.state === state) missing.add(name);
    }
    if (due.size > 0 && due.size <= NAMES_MAX) {
      const found = await find([...due]);
      if (this.known.size > KNOWN_MAX) this.known.clear();
      for (const name of due) {
        const isThere = found?.has(name) === true;
        this.known.set(keyOf(kind, graph, name), { isThere, atMs: now, state: found === null ? null : state });
        if (found !== null && !isThere) missing.add(name);
      }
    }
    return names.filter(({ name }) => missing.has(name));
  }

  private async labels(names: readonly string[], graph: string): Promise<ReadonlySet<string>> {
    const tests = names.map((name) => `EXISTS { MATCH (:${quotedName(name)}) }`);
    const row = await this.readRow(`RETURN ${tests.map((test, i) => `${test} AS c${i}`).join(", ")}`, graph);
    return new Set(names.filter((_, i) => row[i] === true));
  }

  private async types(graph: string): Promise<ReadonlySet<string> | null> {
    return this.firsts(ENTITIES.types, "type(e)", graph);
  }

  private async keys(graph: string): Promise<ReadonlySet<string> | null> {
    const ofNodes = await this.firsts(ENTITIES.nodes, "keys(e)", graph);
    const ofRelationships = await this.firsts(ENTITIES.types, "keys(e)", graph);
    if (ofNodes === null || ofRelationships === null) return null;
    return new Set([...ofNodes, ...ofRelationships]);
  }

  /** What the first entities have; null: there are more of them. */
  private async firsts(match: string, value: string, graph: string): Promise<ReadonlySet<string> | null> {
    const listed = `${match} WITH e LIMIT ${ENTITIES_MAX + 1} RETURN collect(DISTINCT ${value}), count(*)`;
    const [values, count] = await this.readRow(listed, graph);
    if (Number(count) > ENTITIES_MAX) return null;
    return new Set((values as readonly (string | readonly string[])[]).flat());
  }
}
