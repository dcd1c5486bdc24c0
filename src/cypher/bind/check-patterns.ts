/** Checks patterns: what their variables are, and what they may be. Extended by `check-projections.ts`. */
import type { NodePattern, PathGroup, PathPattern, RelationshipPattern, Variable } from "../parse/ast.js";
import type { Place } from "./check-base.js";
import { ExpressionChecker } from "./check-expressions.js";
import { Scope } from "./scope.js";
import { describeType, isOpen, listOf, NODE, PATH, RELATIONSHIP, type StaticType } from "./static-type.js";

export abstract class PatternChecker extends ExpressionChecker {
  /**
   * Patterns that are looked for: new variables come into the scope, known ones must fit. All variables may be used in
   * all property maps and conditions of the patterns.
   */
  protected matchPatterns(patterns: readonly PathPattern[], place: Place): void {
    const relationships = new Set<string>();
    for (const path of patterns) {
      for (const part of partsOf(path)) {
        this.matchVariable(part, place.scope, relationships);
        if (part.kind === "relationship" && part.group !== undefined) this.groupVariables(part.group, place.scope);
      }
      // A path's own name comes last: inside of it is no path yet.
      if (path.variable !== null) this.define(path.variable, PATH, place.scope);
    }
    for (const path of patterns) {
      for (const part of partsOf(path)) this.partExpressions(part, place);
      if (path.where !== undefined) this.condition(path.where, place, "WHERE");
    }
  }

  /** `relationships`: names of those met in the same clause. */
  private matchVariable(part: NodePattern | RelationshipPattern, scope: Scope, relationships: Set<string>): void {
    const { variable } = part;
    if (variable === null) return;
    const { name, position } = variable;
    const type = typeOfPart(part);
    if (part.kind === "relationship" && (part.group?.further.length ?? 0) > 0) {
      this.define(variable, type, scope);
      return;
    }
    const known = scope.find(name);
    if (known === null) scope.define(name, type);
    else if (!fits(known, type)) throw this.typeConflict(variable, known, type);
    if (part.kind === "node") return;
    if (relationships.has(name)) {
      const what = `relationship \`${name}\` stands twice in one pattern, where no relationship comes twice`;
      throw this.mistake(position, "RelationshipUniquenessViolation", what, "give the second another name");
    }
    relationships.add(name);
  }

  /** The nodes of a part that is walked several times: a list of those on the way. */
  private groupVariables({ nodes, further }: PathGroup, scope: Scope): void {
    for (const { variable } of nodes) if (variable !== null) this.define(variable, listOf(NODE), scope);
    for (const { variable } of further) if (variable !== null) this.define(variable, listOf(RELATIONSHIP), scope);
  }

  private typeConflict(variable: Variable, known: StaticType, wanted: StaticType) {
    const what = `variable \`${variable.name}\` is ${describeType(known)} and cannot be ${describeType(wanted)} too`;
    return this.mistake(variable.position, "VariableTypeConflict", what, "another name is free");
  }

  private partExpressions(part: NodePattern | RelationshipPattern, around: Place): void {
    const place = part.kind === "relationship" && part.length !== null ? this.eachTime(part, around) : around;
    const { properties, where } = part;
    const labels = part.kind === "node" ? part.labels : part.types;
    if (labels !== null) this.labelNames(labels, place);
    if (properties !== null) this.typeOf(properties, place);
    if (where !== null) this.condition(where, place, "WHERE");
  }

  /** Where the conditions of what is walked several times stand: they are about one time. */
  private eachTime({ variable, group }: RelationshipPattern, around: Place): Place {
    const scope = new Scope(around.scope);
    const place = { ...around, scope };
    if (variable !== null) scope.define(variable.name, RELATIONSHIP);
    if (group === undefined) return place;
    const { nodes, further, where } = group;
    for (const part of [...nodes, ...further]) {
      if (part.variable !== null) scope.define(part.variable.name, part.kind === "node" ? NODE : RELATIONSHIP);
    }
    for (const part of [...nodes, ...further]) this.partExpressions(part, place);
    if (where !== null) this.condition(where, place, "WHERE");
    return place;
  }

  /** A pattern as an expression brings no variables; only what a shortest path runs along may have a name. */
  protected patternExpr(pattern: PathPattern, place: Place): void {
    for (const part of partsOf(pattern)) {
      if (part.variable === null || (pattern.search !== "all" && part.kind === "relationship")) continue;
      const type = place.scope.find(part.variable.name);
      if (type !== null) continue;
      const what = `variable \`${part.variable.name}\` is not defined`;
      const remedy = "a pattern in an expression brings no variables: leave the name out, or use EXISTS {…}";
      throw this.mistake(part.variable.position, "UndefinedVariable", what, remedy);
    }
    this.matchPatterns([pattern], place);
  }

  /**
   * Patterns of CREATE and MERGE. A bound node may be at the end of a new relationship, but without further labels or
   * properties.
   */
  protected writtenPatterns(patterns: readonly PathPattern[], place: Place, clause: "CREATE" | "MERGE"): void {
    for (const path of patterns) {
      for (const part of partsOf(path)) {
        this.partExpressions(part, place);
        if (part.kind === "node") this.writtenNode(part, path.steps.length > 0, place.scope, clause);
        else if (part.variable !== null) this.writtenRelationship(part, part.variable, place.scope, clause);
      }
      if (path.variable !== null) this.define(path.variable, PATH, place.scope);
    }
  }

  private writtenNode(node: NodePattern, connected: boolean, scope: Scope, clause: string): void {
    const { variable, labels, properties } = node;
    if (variable === null) return;
    const known = scope.find(variable.name);
    if (known === null) {
      scope.define(variable.name, NODE);
      return;
    }
    if (!fits(known, NODE)) throw this.typeConflict(variable, known, NODE);
    if (!connected) throw this.alreadyBound(variable, `${clause} of a single node needs a new name`);
    if (labels !== null || properties !== null) {
      throw this.alreadyBound(variable, "SET gives it labels and properties; here its name stands alone");
    }
  }

  private writtenRelationship({ types }: RelationshipPattern, variable: Variable, scope: Scope, clause: string): void {
    if (scope.has(variable.name)) throw this.alreadyBound(variable, `a relationship in ${clause} needs a new name`);
    if (types === null) {
      const what = "a relationship is written with exactly one type";
      throw this.mistake(variable.position, "NoSingleRelationshipType", what);
    }
    scope.define(variable.name, RELATIONSHIP);
  }
}

function* partsOf({ start, steps }: PathPattern): Generator<NodePattern | RelationshipPattern> {
  yield start;
  for (const { relationship, node } of steps) {
    yield relationship;
    yield node;
  }
}

function typeOfPart(part: NodePattern | RelationshipPattern): StaticType {
  if (part.kind === "node") return NODE;
  return part.length === null ? RELATIONSHIP : listOf(RELATIONSHIP);
}

/** Whether a variable of a known type may be used as a part of a pattern. */
function fits(known: StaticType, part: StaticType): boolean {
  if (isOpen(known)) return true;
  if (known.kind !== "list" || part.kind !== "list") return known.kind === part.kind;
  return isOpen(known.item) || known.item.kind === part.item.kind;
}
