/**
 * Calls of procedures that write, as the clauses that say the same: `db.create.set…VectorProperty`, and those of APOC
 * that libraries for Neo4j send because a label or a type could not be computed there before.
 */
import type {
  CallClause,
  Clause,
  DynamicLabel,
  Expr,
  MapLiteral,
  NodePattern,
  PathPattern,
  RelationshipPattern,
  SetItem,
  Variable,
} from "./ast.js";
import { EVERYTHING } from "./composed-queries.js";

/** Throws an error of compile time at the position. */
export type Refuse = (position: number, message: string) => never;

interface WritingProcedure {
  /** As `dbms.procedures` lists it. */
  readonly signature: string;
  readonly description: string;
  readonly args: readonly [min: number, max: number];
  /** The field that it gives; null: none. */
  readonly field: "node" | "rel" | null;
  clauses(args: readonly Expr[], given: Variable, call: Call): Clause[];
}

interface Call {
  readonly position: number;
  readonly refuse: Refuse;
}

const setVector: Omit<WritingProcedure, "signature"> = {
  description: "Sets a property of a node or relationship to a vector.",
  args: [3, 3],
  field: null,
  clauses: ([entity, key, value], _given, { position }) => {
    const target = { kind: "index", target: entity!, index: key!, position } as const;
    return [setting(position, { kind: "set-property", target, value: value!, position })];
  },
};

const PROCEDURES: readonly WritingProcedure[] = [
  {
    ...setVector,
    signature: "db.create.setNodeVectorProperty(node :: NODE, key :: STRING, vector :: LIST<NUMBER>) :: VOID",
  },
  {
    ...setVector,
    signature:
      "db.create.setRelationshipVectorProperty(relationship :: RELATIONSHIP, key :: STRING, vector :: LIST<NUMBER>) :: VOID",
  },
  {
    signature: "db.create.setVectorProperty(node :: NODE, key :: STRING, vector :: LIST<NUMBER>) :: (node :: NODE)",
    ...setVector,
    field: "node",
    clauses: (args, given, call) => [...setVector.clauses(args, given, call), calledSo(args[0]!, given, call.position)],
  },
  {
    signature: "apoc.create.addLabels(nodes :: LIST<NODE>, labels :: LIST<STRING>) :: (node :: NODE)",
    description: "Adds labels to nodes.",
    args: [2, 2],
    field: "node",
    clauses: ([nodes, labels], given, { position }) => [
      { kind: "unwind", list: nodes!, variable: given, position },
      setting(position, { kind: "labels", variable: given, labels: [], dynamic: [dynamic(labels!)], position }),
    ],
  },
  {
    signature: "apoc.create.node(labels :: LIST<STRING>, properties :: MAP) :: (node :: NODE)",
    description: "Creates a node with labels that are computed.",
    args: [2, 2],
    field: "node",
    clauses: ([labels, properties], given, { position }) => [
      { kind: "create", patterns: [path(nodeOf(given, labels!, null), position)], position },
      setting(position, { kind: "replace", variable: given, value: properties!, position }),
    ],
  },
  {
    signature:
      "apoc.create.relationship(from :: NODE, type :: STRING, properties :: MAP, to :: NODE) :: (rel :: RELATIONSHIP)",
    description: "Creates a relationship of a type that is computed.",
    args: [4, 4],
    field: "rel",
    clauses: ([from, type, properties, to], given, call) => {
      const { position } = call;
      const pattern = joined(end(from!, call), relationshipOf(given, type!, null), end(to!, call), position);
      return [
        { kind: "create", patterns: [pattern], position },
        setting(position, { kind: "replace", variable: given, value: properties!, position }),
      ];
    },
  },
  {
    signature:
      "apoc.merge.node(labels :: LIST<STRING>, identity :: MAP, onCreate :: MAP?, onMatch :: MAP?) :: (node :: NODE)",
    description: "Finds or creates a node with labels that are computed.",
    args: [2, 4],
    field: "node",
    clauses: ([labels, identity, onCreate, onMatch], given, call) => {
      const pattern = path(nodeOf(given, labels!, identifying(identity!, call)), call.position);
      return [merge(pattern, given, onCreate, onMatch, call.position)];
    },
  },
  {
    signature:
      "apoc.merge.relationship(from :: NODE, type :: STRING, identity :: MAP, onCreate :: MAP, to :: NODE, onMatch :: MAP?) :: (rel :: RELATIONSHIP)",
    description: "Finds or creates a relationship of a type that is computed.",
    args: [5, 6],
    field: "rel",
    clauses: ([from, type, identity, onCreate, to, onMatch], given, call) => {
      const relationship = relationshipOf(given, type!, identifying(identity!, call));
      const pattern = joined(end(from!, call), relationship, end(to!, call), call.position);
      return [merge(pattern, given, onCreate, onMatch, call.position)];
    },
  },
];

const BY_NAME: ReadonlyMap<string, WritingProcedure> = new Map(
  PROCEDURES.map((procedure) => [nameOf(procedure).toLowerCase(), procedure]),
);

/** For lists of procedures. */
export const WRITING_PROCEDURES: readonly { name: string; signature: string; description: string }[] = PROCEDURES.map(
  (procedure) => ({ ...procedure, name: nameOf(procedure) }),
);

function nameOf({ signature }: WritingProcedure): string {
  return signature.slice(0, signature.indexOf("("));
}

/** The clauses that a call stands for; of other procedures the call itself. Throws for wrong arguments and fields. */
export function writingClauses(call: CallClause, refuse: Refuse): readonly Clause[] {
  const procedure = BY_NAME.get(call.procedure.toLowerCase());
  if (procedure === undefined) return [call];
  const { position, standalone, where } = call;
  const args = call.args ?? refuse(position, `${call.procedure} needs its arguments in parentheses`);
  const [min, max] = procedure.args;
  if (args.length < min || args.length > max) {
    const wanted = min === max ? String(min) : `${min} to ${max}`;
    refuse(position, `procedure \`${call.procedure}\` takes ${wanted} arguments and not ${args.length}`);
  }
  if (call.optional) refuse(position, `${call.procedure} writes: OPTIONAL has no meaning for it`);
  const given = variableGiven(call, procedure.field, refuse);
  const written = procedure.clauses(args, given, { position, refuse });
  if (where !== null) written.push({ ...EVERYTHING, kind: "with", where, position });
  if (!standalone) return written;
  if (procedure.field === null) return written;
  const items = [{ expr: given, alias: null, name: given.name, position }];
  return [...written, { ...EVERYTHING, kind: "return", star: false, items, position }];
}

/** What the call's field is called from here on. */
function variableGiven({ yields, procedure, standalone, position }: CallClause, field: string | null, refuse: Refuse) {
  const named = yields === "*" ? [] : (yields ?? []);
  const stranger = named.find((each) => each.field !== field);
  if (stranger !== undefined) {
    refuse(stranger.position, `procedure \`${procedure}\` yields ${field ?? "nothing"} and no ${stranger.field}`);
  }
  if (field !== null && named.length === 0 && !standalone) {
    refuse(position, `name what \`${procedure}\` gives: YIELD ${field}`);
  }
  return named[0]?.variable ?? { kind: "variable" as const, name: field ?? "", position };
}

const setting = (position: number, ...items: SetItem[]): Clause => ({ kind: "set", items, position });

/** Gives an entity the variable's name. */
function calledSo(expr: Expr, alias: Variable, position: number): Clause {
  return { ...EVERYTHING, kind: "with", items: [{ expr, alias, name: alias.name, position }], position };
}

const dynamic = (names: Expr): DynamicLabel => ({ kind: "dynamic-label", names, any: false, position: names.position });

function path(start: NodePattern, position: number, steps: PathPattern["steps"] = []): PathPattern {
  return { kind: "path", variable: null, search: "all", start, steps, position };
}

function joined(from: NodePattern, relationship: RelationshipPattern, node: NodePattern, position: number) {
  return path(from, position, [{ relationship, node }]);
}

function nodeOf(variable: Variable, labels: Expr | null, properties: MapLiteral | null): NodePattern {
  const { position } = variable;
  return { kind: "node", variable, labels: labels && dynamic(labels), properties, where: null, position };
}

function relationshipOf(variable: Variable, type: Expr, properties: MapLiteral | null): RelationshipPattern {
  const { position } = variable;
  const plain = { similarity: null, length: null, where: null, direction: "right" } as const;
  return { kind: "relationship", variable, types: dynamic(type), properties, ...plain, position };
}

/** A node that is there, as an end of a pattern. */
function end(expr: Expr, { refuse }: Call): NodePattern {
  if (expr.kind === "variable") return nodeOf(expr, null, null);
  return refuse(expr.position, "a relationship begins and ends at variables: name the nodes by WITH before");
}

/** What MERGE looks for has to be known when the statement is planned. */
function identifying(expr: Expr, { refuse }: Call): MapLiteral {
  if (expr.kind === "map") return expr;
  return refuse(expr.position, "the properties that identify must be written as a map, such as {id: row.id}");
}

function merge(
  pattern: PathPattern,
  variable: Variable,
  onCreate: Expr | undefined,
  onMatch: Expr | undefined,
  position: number,
): Clause {
  const added = (value: Expr | undefined): SetItem[] =>
    value === undefined || (value.kind === "map" && value.entries.length === 0)
      ? []
      : [{ kind: "add", variable, value, position }];
  return { kind: "merge", pattern, onCreate: added(onCreate), onMatch: added(onMatch), position };
}
