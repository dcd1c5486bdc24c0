/**
 * `apoc.neighbors.…`, as Neo4j's library APOC has them: the nodes around a node, by how many relationships away they
 * are. Each is a query of Cypher that walks from the node: for the other nodes, each once, or, where it asks how far
 * away they are, for the shortest way to each.
 */
import { DbError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { quotedName } from "./schema-procedures.js";
import { INTEGER, listOf, NODE, STRING } from "./static-type.js";

/** Where there is a row or an item for each distance. */
const HOPS_MAX = 10_000;

const DIRECTIONS = { out: ["-", "->"], in: ["<-", "-"], either: ["-", "-"] } as const;
type Direction = keyof typeof DIRECTIONS;

/** Of `A>`, `<A`, `A` or `>`; "": any type. */
function parsedType(text: string): { readonly name: string; readonly direction: Direction } {
  const quoted = /`([^`]+)`/.exec(text);
  const around = text.replace(/`[^`]*`/, "");
  const direction = around.includes("<") ? "in" : around.includes(">") ? "out" : "either";
  return { name: quoted?.[1] ?? text.replaceAll(/[<>`:]/g, "").trim(), direction };
}

/** `-[:A|B]->{1,n}`. Throws invalid_request. */
function walkAlong(types: string, distance: number): string {
  const parsed = types.split("|").map(parsedType);
  const directions = new Set(parsed.map(({ direction }) => direction));
  if (directions.size > 1) {
    const hint = 'all point out ("A>|B>"), all point in ("<A|<B"), or all go both ways ("A|B")';
    throw new DbError("invalid_request", `apoc.neighbors takes types of one direction in a call: ${hint}.`);
  }
  const [left, right] = DIRECTIONS[[...directions][0]!];
  const names = parsed.map(({ name }) => name);
  const label = names.includes("") ? "" : `:${names.map(quotedName).join("|")}`;
  return `${left}[${label}]${right}{1,${distance}}`;
}

/** The query, of the walk and the greatest distance. */
type Query = (walk: string, distance: number) => string;

const reached = (walk: string) => `MATCH (n)${walk}(m) WHERE m <> n`;
const shortest = (walk: string) => `MATCH p = SHORTEST 1 (n)${walk}(m) WHERE m <> n`;
const atHop: Query = (walk, distance) => `${shortest(walk)} WITH m, length(p) AS hop WHERE hop = ${distance}`;

/** Lists of what each distance has, by `each`; `empty` where no node is so far away. */
const byHop = (walk: string, distance: number, each: string, empty: string) =>
  `${shortest(walk)} WITH length(p) AS hop, ${each} AS found WITH collect([toString(hop), found]) AS pairs
    WITH apoc.map.fromPairs(pairs) AS found WITH [hop IN range(1, ${distance}) | coalesce(found[toString(hop)], ${empty})] AS value`;

const NO_ROW = "UNWIND [] AS none RETURN none";

interface Neighbors {
  readonly name: string;
  readonly description: string;
  readonly output: ProcedureField;
  readonly query: Query;
  /** It gives something for each distance. */
  readonly perHop: boolean;
}

const NODE_FIELD: ProcedureField = { name: "node", type: NODE };
const VALUE: ProcedureField = { name: "value", type: INTEGER };

const NEIGHBORS: readonly Neighbors[] = [
  {
    name: "tohop",
    description: "The nodes that are at most so many relationships away.",
    output: NODE_FIELD,
    query: (walk) => `${reached(walk)} RETURN DISTINCT m AS node`,
    perHop: false,
  },
  {
    name: "tohop.count",
    description: "How many nodes are at most so many relationships away.",
    output: VALUE,
    query: (walk) => `${reached(walk)} RETURN count(DISTINCT m) AS value`,
    perHop: false,
  },
  {
    name: "athop",
    description: "The nodes that are exactly so many relationships away.",
    output: NODE_FIELD,
    query: (walk, distance) => `${atHop(walk, distance)} RETURN m AS node`,
    perHop: false,
  },
  {
    name: "athop.count",
    description: "How many nodes are exactly so many relationships away.",
    output: VALUE,
    query: (walk, distance) => `${atHop(walk, distance)} RETURN count(*) AS value`,
    perHop: false,
  },
  {
    name: "byhop",
    description: "A row for each distance: the nodes that are so far away.",
    output: { name: "nodes", type: listOf(NODE) },
    query: (walk, distance) => `${byHop(walk, distance, "collect(m)", "[]")} UNWIND value AS nodes RETURN nodes`,
    perHop: true,
  },
  {
    name: "byhop.count",
    description: "A list: how many nodes are at each distance.",
    output: { name: "value", type: listOf(INTEGER) },
    query: (walk, distance) => `${byHop(walk, distance, "count(*)", "0")} RETURN value`,
    perHop: true,
  },
];

/** Throws invalid_request. */
function atOnce(expr: Expr, name: string, statement: ProcedureStatement): unknown {
  const value = statement.valueAtOnce(expr);
  if (value !== undefined) return value;
  throw new DbError(
    "invalid_request",
    `"${name}" of apoc.neighbors has to be written in the statement or a parameter.`,
  );
}

function rowsOf({ query, perHop }: Neighbors, args: readonly Expr[], statement: ProcedureStatement) {
  const types = args[1] === undefined ? "" : (atOnce(args[1], "types", statement) ?? "");
  const distance = args[2] === undefined ? 1 : (atOnce(args[2], "distance", statement) ?? 1);
  if (typeof types !== "string") throw new DbError("invalid_request", '"types" of apoc.neighbors is a string.');
  if (typeof distance !== "number" || !Number.isInteger(distance)) {
    throw new DbError("invalid_request", '"distance" of apoc.neighbors is an integer.');
  }
  if (perHop && distance > HOPS_MAX) {
    throw new DbError("invalid_request", `"distance" of apoc.neighbors.byhop is at most ${HOPS_MAX}.`);
  }
  // As in APOC, no type at all means none.
  if (distance < 1 || types === "") return statement.query(NO_ROW);
  return statement.query(query(walkAlong(types, distance), distance), new Map([["n", args[0]!]]));
}

export const NEIGHBOR_PROCEDURES: readonly Procedure[] = NEIGHBORS.map((kind) => ({
  name: `apoc.neighbors.${kind.name}`,
  description: kind.description,
  inputs: [
    { ...NODE_FIELD, optional: false },
    { name: "types", type: STRING, optional: true },
    { name: "distance", type: INTEGER, optional: true },
  ],
  outputs: [kind.output],
  rows: (args, statement) => rowsOf(kind, args, statement),
}));
