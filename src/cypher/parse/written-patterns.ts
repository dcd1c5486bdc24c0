/** Checks which patterns can be created, merged and matched. Called by `queries.ts` after it has read them. */
import type { LabelExpr, MapLiteral, NodePattern, Parameter, PathPattern, RelationshipPattern } from "./ast.js";
import type { SyntaxErrorDetail } from "./syntax-error.js";

export interface WrongPattern {
  readonly detail: SyntaxErrorDetail;
  readonly position: number;
  readonly message: string;
}

const wrong = (detail: SyntaxErrorDetail, position: number, message: string): WrongPattern => ({
  detail,
  position,
  message,
});

/** MATCH accepts everything except a parameter for all properties, for which nothing could be planned. */
export function wrongInMatch(patterns: readonly PathPattern[]): WrongPattern | null {
  return firstWrong(patterns, ({ properties }) => parameterUsed(properties));
}

/** REPEATABLE ELEMENTS: there are ever longer walks, so each part says how often at most it is walked. */
export function endless(patterns: readonly PathPattern[]): WrongPattern | null {
  for (const { search, mode, steps, position } of patterns) {
    if (search !== "all" && mode === undefined) {
      return wrong("UnexpectedSyntax", position, "SHORTEST and REPEATABLE ELEMENTS do not go together");
    }
    const open = steps.find(({ relationship: { length } }) => length !== null && length.max === null)?.relationship;
    if (open === undefined || mode !== undefined) continue;
    const message =
      "where relationships may come twice, a part that is walked several times has an upper bound ({1,6})";
    return wrong("InvalidRelationshipPattern", open.position, message);
  }
  return null;
}

/** CREATE: plain labels, one type and one direction for each relationship. */
export function wrongInCreate(patterns: readonly PathPattern[]): WrongPattern | null {
  return firstWrong(patterns, (part) => notWritable(part) ?? undirected(part));
}

/** MERGE: as CREATE, but a relationship may be looked for in both directions. */
export function wrongInMerge(pattern: PathPattern): WrongPattern | null {
  return firstWrong([pattern], (part) => parameterUsed(part.properties) ?? notWritable(part));
}

function firstWrong(
  patterns: readonly PathPattern[],
  check: (part: NodePattern | RelationshipPattern) => WrongPattern | null,
): WrongPattern | null {
  for (const { start, steps } of patterns) {
    const inStart = check(start);
    if (inStart !== null) return inStart;
    for (const { relationship, node } of steps) {
      const inStep = check(relationship) ?? check(node);
      if (inStep !== null) return inStep;
    }
  }
  return null;
}

function parameterUsed(properties: MapLiteral | Parameter | null): WrongPattern | null {
  if (properties?.kind !== "parameter") return null;
  const message = "a parameter cannot stand for all properties of a pattern that is looked for";
  return wrong("InvalidParameterUse", properties.position, message);
}

function notWritable(part: NodePattern | RelationshipPattern): WrongPattern | null {
  if (part.where !== null) {
    return wrong("UnexpectedSyntax", part.where.position, "a pattern that is written cannot have WHERE");
  }
  if (part.kind === "node") {
    if (part.labels === null || plainLabels(part.labels)) return null;
    return wrong("UnexpectedSyntax", part.labels.position, "a node is written with labels, not with alternatives");
  }
  const { types, length, similarity, variable, position } = part;
  if (length !== null) {
    return wrong("CreatingVarLength", length.position, "a relationship of variable length cannot be written");
  }
  if (similarity !== null) {
    return wrong("InvalidRelationshipPattern", similarity.position, "a relationship of likeness cannot be written");
  }
  // A name alone may be one that is bound: the checker says which mistake it is.
  if (
    types?.kind === "label" ||
    (types?.kind === "dynamic-label" && !types.any) ||
    (types === null && variable !== null)
  )
    return null;
  const message = "a relationship is written with exactly one type";
  return wrong("NoSingleRelationshipType", types?.position ?? position, message);
}

function undirected(part: NodePattern | RelationshipPattern): WrongPattern | null {
  if (part.kind === "node" || part.direction !== "either") return null;
  return wrong("RequiresDirectedRelationship", part.position, "a relationship is created with one direction");
}

function plainLabels(labels: LabelExpr): boolean {
  if (labels.kind === "dynamic-label") return !labels.any;
  return labels.kind === "label" || (labels.kind === "and-labels" && labels.operands.every(plainLabels));
}
