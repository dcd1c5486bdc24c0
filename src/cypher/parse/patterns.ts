/** Patterns: nodes, relationships, paths and label expressions. Extended by `queries.ts`. */
import { type CypherType, TYPE_WORDS_MAX, typeNamed, type VectorShape, writtenType } from "../../values/cypher-type.js";
import { DIMENSIONS_MAX } from "../../values/cypher-vector.js";
import type {
  DynamicLabel,
  LabelExpr,
  MapLiteral,
  NodePattern,
  Parameter,
  PathLength,
  PathPattern,
  PathStep,
  RelationshipPattern,
  Similarity,
} from "./ast.js";
import { AtomParser } from "./atoms.js";
import { integerValue } from "./literals.js";

const TWO_WHERES = "a path in parentheses has one WHERE: join the conditions by AND";

export abstract class PatternParser extends AtomParser {
  /** `p = (a)-->(b)`, `shortestPath(…)`. */
  protected path(): PathPattern {
    const position = this.position();
    if (this.isVariable() && this.kinds[this.at + 1] === "=") {
      const variable = this.variable();
      this.at++;
      return { ...this.pathSteps(), variable, position };
    }
    return this.pathSteps();
  }

  protected pathSteps(): PathPattern {
    const position = this.position();
    const { keyword } = this;
    if ((keyword === "SHORTESTPATH" || keyword === "ALLSHORTESTPATHS") && this.kinds[this.at + 1] === "(") {
      this.at += 2;
      const search = keyword === "SHORTESTPATH" ? "shortest" : "all-shortest";
      const path = { ...this.oneRelationship(this.pathSteps()), search, position } as const;
      this.expect(")");
      return path;
    }
    const search = this.shortest();
    const mode = this.pathMode();
    if (search !== null) return { ...this.shortestOf(this.pathSteps(), search, position), ...mode };
    if (mode !== null) return { ...this.pathSteps(), ...mode, position };
    // A whole path may be in parentheses.
    if (this.groupBegins() && !this.isQuantified()) {
      this.enter();
      this.at++;
      const inner = this.pathSteps();
      const where = this.optionalWhere();
      if (where !== null && inner.where !== undefined) throw this.error(where.position, "UnexpectedSyntax", TWO_WHERES);
      this.expect(")");
      this.leave();
      return { ...inner, position, ...(where !== null && { where }) };
    }
    this.refuseNamedPart();
    const start = this.groupBegins() ? this.noNode() : this.node();
    const steps: PathStep[] = [];
    for (;;) {
      this.refuseNamedPart();
      if (this.groupBegins()) steps.push(this.group());
      else if (this.isDash(this.at) || this.isLeft(this.at)) {
        const relationship = this.relationship();
        steps.push({ relationship, node: this.groupBegins() ? this.noNode() : this.node() });
      } else break;
    }
    return { kind: "path", variable: null, search: "all", start, steps, position };
  }

  /** `SHORTEST 2`, `ANY SHORTEST`, `ALL SHORTEST`, `ANY 2`, `SHORTEST 2 GROUPS`; null: the pattern begins otherwise. */
  private shortest(): PathPattern["search"] | null {
    const { keyword } = this;
    if (keyword !== "SHORTEST" && keyword !== "ANY" && keyword !== "ALL") return null;
    this.at++;
    const isShortest = keyword === "SHORTEST" || this.acceptKeyword("SHORTEST");
    const at = this.at;
    const count = keyword === "ALL" ? null : this.bound();
    this.skipPathWords();
    const isGroup = keyword === "SHORTEST" && (this.acceptWord("GROUP") || this.acceptWord("GROUPS"));
    if (count === 0) {
      throw this.error(
        this.position(at),
        "UnexpectedSyntax",
        "expected a number of paths or groups that is at least 1",
      );
    }
    if (keyword === "ALL") return isShortest ? "all-shortest" : null;
    // Of all paths the shortest are as good as any.
    if (count !== null && count > 1) return { by: isGroup ? "groups" : "paths", count };
    return isGroup ? "all-shortest" : "shortest";
  }

  /** `WALK`, `TRAIL` or `ACYCLIC`; null: the pattern begins otherwise. */
  private pathMode(): Pick<PathPattern, "mode"> | null {
    const mode = this.kind === "word" ? PATH_MODES[this.word().toUpperCase()] : undefined;
    if (mode === undefined) return null;
    this.at++;
    this.skipPathWords();
    return mode;
  }

  private skipPathWords(): void {
    if (!this.acceptWord("PATHS")) this.acceptWord("PATH");
  }

  private groupBegins(): boolean {
    return this.kind === "(" && this.kinds[this.at + 1] === "(";
  }

  /** `(p = (a)-->(b))`. */
  private refuseNamedPart(): void {
    if (this.kind !== "(" || !this.isVariable(this.at + 1) || this.kinds[this.at + 2] !== "=") return;
    const what =
      "a part of a path has no name, as in Neo4j: name the whole path before it, or the nodes and relationships inside";
    throw this.error(this.position(this.at + 1), "UnexpectedSyntax", what);
  }

  /** Whether a quantifier follows the parentheses that open here. */
  private isQuantified(): boolean {
    const after = this.closing(this.at) + 1;
    return this.kinds[after] === "+" || this.kinds[after] === "*" || this.kinds[after] === "{";
  }

  /** A node of which nothing is said, beside a part that is walked several times. */
  private noNode(): NodePattern {
    const said = { variable: null, labels: null, properties: null, where: null };
    return { kind: "node", ...said, position: this.position() };
  }

  /** `((x)-[r:T]->(y) WHERE …){1,3} (b)`: relationships that are walked several times, and what holds each time. */
  private group(): PathStep {
    const position = this.position();
    this.enter();
    this.expect("(");
    const { search, start, steps, where: inside } = this.pathSteps();
    const where = this.optionalWhere() ?? inside ?? null;
    this.expect(")");
    this.leave();
    const [step, ...later] = steps;
    const wrong = (at: number, what: string) => this.error(at, "InvalidRelationshipPattern", what);
    if (step === undefined) throw wrong(position, "a part that is walked several times has a relationship");
    if (search !== "all" || steps.some(({ relationship }) => relationship.length !== null)) {
      throw wrong(position, "inside a part that is walked several times each relationship is walked once");
    }
    for (const { relationship } of later.length === 0 ? [] : steps) {
      if (relationship.similarity !== null) throw wrong(relationship.position, "a path cannot run along SIMILAR_TO");
    }
    const nodes = [start, ...steps.map(({ node }) => node)];
    for (const { properties } of [...nodes, ...later.map((each) => each.relationship)]) {
      if (properties?.kind === "parameter") throw wrong(properties.position, "expected a map of properties");
    }
    const { relationship } = step;
    const length = this.quantifier(relationship);
    if (length === null) throw this.expected("a quantifier");
    const group = { nodes, further: later.map((each) => each.relationship), where };
    const isNode = this.kind === "(" && !this.groupBegins();
    return { relationship: { ...relationship, length, group }, node: isNode ? this.node() : this.noNode() };
  }

  private shortestOf(inner: PathPattern, search: PathPattern["search"], position: number): PathPattern {
    if (inner.search === "all" && inner.steps.length > 0) return { ...inner, search, position };
    throw this.error(inner.position, "InvalidRelationshipPattern", "a shortest path needs a relationship");
  }

  /** What `shortestPath(…)` takes. */
  private oneRelationship(inner: PathPattern): PathPattern {
    const wrong = (at: number, what: string) => this.error(at, "InvalidRelationshipPattern", what);
    const other = " (SHORTEST 1 and ALL SHORTEST before a pattern take others, too)";
    const [step] = inner.steps;
    if (inner.search !== "all" || inner.steps.length !== 1 || inner.where !== undefined) {
      throw wrong(inner.position, `shortest paths need exactly one relationship${other}`);
    }
    const { position, length, group } = step!.relationship;
    if ((group?.further.length ?? 0) > 0) {
      throw wrong(position, `shortest paths run along one kind of relationship, not along several in turn${other}`);
    }
    // The search for one path or one length keeps the shortest ways to each node alone.
    const least = length?.min ?? 1;
    if (least > 1) throw wrong(position, `shortest paths have a least length of 0 or 1, not ${least}${other}`);
    return inner;
  }

  /** Whether the parenthesis at a token opens a node with a relationship after it, and not an expression. */
  protected nodePatternBegins(open: number): boolean {
    let at = open + 1;
    if (this.isVariable(at)) at++;
    const kind = this.kinds[at];
    if (kind !== ")") {
      if (kind !== ":" && kind !== "{" && kind !== "parameter" && this.keywords[at] !== "WHERE") return false;
      at = this.closing(open);
    }
    at++;
    if (this.isLeft(at)) at++;
    if (!this.isDash(at)) return false;
    if (this.kinds[at + 1] === "[") return this.isDash(this.closing(at + 1) + 1);
    if (!this.isDash(at + 1)) return false;
    return this.kinds[at + 2] === "(" || (this.isRight(at + 2) && this.kinds[at + 3] === "(");
  }

  /** Index of the token that closes a bracket, or of the last. */
  private closing(open: number): number {
    const { kinds } = this;
    let depth = 0;
    for (let at = open; at < kinds.length; at++) {
      const kind = kinds[at];
      if (kind === "(" || kind === "[" || kind === "{") depth++;
      else if (kind === ")" || kind === "]" || kind === "}") {
        if (--depth === 0) return at;
      }
    }
    return kinds.length - 1;
  }

  private isDash(at: number): boolean {
    const kind = this.kinds[at];
    return kind === "-" || kind === "dash";
  }

  private isLeft(at: number): boolean {
    const kind = this.kinds[at];
    return kind === "<" || kind === "left";
  }

  private isRight(at: number): boolean {
    const kind = this.kinds[at];
    return kind === ">" || kind === "right";
  }

  private expectDash(): void {
    if (!this.isDash(this.at)) throw this.expected(`"-"`);
    this.at++;
  }

  protected node(): NodePattern {
    const position = this.position();
    this.expect("(");
    const variable = this.isVariable() ? this.variable() : null;
    const labels = this.accept(":") || this.acceptKeyword("IS") ? this.labels(true, true) : null;
    const properties = this.patternProperties();
    const where = this.optionalWhere();
    if (this.kind !== ")") throw this.expected(`")"`);
    this.at++;
    return { kind: "node", variable, labels, properties, where, position };
  }

  private patternProperties(): MapLiteral | Parameter | null {
    if (this.kind === "{") return this.map();
    return this.kind === "parameter" ? this.parameter() : null;
  }

  private relationship(): RelationshipPattern {
    const position = this.position();
    const left = this.isLeft(this.at);
    if (left) this.at++;
    this.expectDash();
    const inside = this.accept("[") ? this.relationshipInside() : NOTHING_SAID;
    this.expectDash();
    const right = this.isRight(this.at);
    if (right) this.at++;
    const direction = left === right ? "either" : right ? "right" : "left";
    const length = this.quantifier(inside) ?? inside.length;
    return { kind: "relationship", ...inside, length, direction, position };
  }

  /** `+`, `*`, `{2}` or `{1,3}` after a relationship: how often it is walked. */
  private quantifier({ length }: Pick<RelationshipPattern, "length">): PathLength | null {
    const { kind } = this;
    if (kind !== "+" && kind !== "*" && kind !== "{") return null;
    const position = this.position();
    if (length !== null) throw this.expected(`"("`);
    this.at++;
    if (kind !== "{") return { min: kind === "+" ? 1 : 0, max: null, position };
    const min = this.bound();
    const max = this.accept(",") ? this.bound() : min;
    this.expect("}");
    return { min: min ?? 0, max, position };
  }

  private relationshipInside(): Omit<RelationshipPattern, "kind" | "direction" | "position"> {
    const variable = this.isVariable() ? this.variable() : null;
    const types = this.accept(":") || this.acceptKeyword("IS") ? this.labels(true, false) : null;
    const similarity = types === null ? null : this.similarity();
    const length = this.kind === "*" ? this.pathLength() : null;
    const properties = this.patternProperties();
    const where = this.optionalWhere();
    this.expect("]");
    return { variable, types, similarity, length, properties, where };
  }

  private similarity(): Similarity | null {
    const { kind } = this;
    if (kind !== ">" && kind !== ">=") return null;
    const position = this.position();
    this.at++;
    if (this.kind !== "integer" && this.kind !== "float" && this.kind !== "parameter") {
      throw this.expected("a number or a parameter");
    }
    return { operator: kind, threshold: this.atom() as Similarity["threshold"], position };
  }

  private pathLength(): PathLength {
    const position = this.position();
    this.at++;
    const min = this.bound();
    if (this.accept("..")) return { min, max: this.bound(), position };
    return { min, max: min, position };
  }

  private bound(): number | null {
    if (this.kind !== "integer") return null;
    const at = this.at++;
    const value = integerValue(this.text, this.position(at), this.end(at), false);
    if (typeof value === "number") return value;
    throw this.error(this.position(at), "IntegerOverflow", "a path cannot have that length");
  }

  /** What follows a colon. `or`: a bar may join labels; `colons`: another colon means "and" (of nodes). */
  protected labels(or: boolean, colons: boolean): LabelExpr {
    this.enter();
    const position = this.position();
    const operands = [this.allLabels(colons)];
    while (or && this.accept("|")) {
      this.accept(":");
      operands.push(this.allLabels(colons));
    }
    this.leave();
    return operands.length === 1 ? operands[0]! : { kind: "or-labels", operands, position };
  }

  private allLabels(colons: boolean): LabelExpr {
    const position = this.position();
    const operands = [this.label(colons)];
    while (this.accept("&") || (colons && this.accept(":"))) operands.push(this.label(colons));
    return operands.length === 1 ? operands[0]! : { kind: "and-labels", operands, position };
  }

  private label(colons: boolean): LabelExpr {
    const position = this.position();
    if (this.accept("%")) return { kind: "any-label", position };
    if (this.accept("!")) {
      this.enter();
      const operand = this.label(colons);
      this.leave();
      return { kind: "not-label", operand, position };
    }
    if (this.accept("(")) {
      const labels = this.labels(true, colons);
      this.expect(")");
      return labels;
    }
    return this.dynamicLabel(position) ?? { kind: "label", name: this.name("a label or type"), position };
  }

  /** `$(…)`, `$all(…)`, `$any(…)`; null: it is written out. */
  private dynamicLabel(position: number): DynamicLabel | null {
    const { at } = this;
    const word = this.kind === "parameter" && this.kinds[at + 1] === "(" ? this.word().toLowerCase() : "";
    if (this.kind !== "$" && word !== "$all" && word !== "$any") return null;
    this.at++;
    this.expect("(");
    const names = this.inner();
    this.expect(")");
    return { kind: "dynamic-label", names, any: word === "$any", position };
  }

  protected valueType(): string {
    return writtenType(this.typeAlternatives());
  }

  private typeAlternatives(): CypherType[] {
    const position = this.position();
    const types: CypherType[] = [];
    do types.push(...this.oneType());
    while (!this.barEnds && this.accept("|"));
    if (types.every(({ notNull }) => notNull === types[0]!.notNull)) return types;
    throw this.error(position, "UnexpectedSyntax", "of alternative types either all are NOT NULL, or none is");
  }

  /** `LIST<INTEGER NOT NULL> NOT NULL`; `ANY<A | B>` is both. */
  private oneType(): CypherType[] {
    this.enter();
    const { at } = this;
    const words: string[] = [];
    const limit = at + TYPE_WORDS_MAX;
    let name: CypherType["name"] | undefined;
    for (let end = at; this.isName(end) && end < limit; end++) {
      words.push(this.word(end).toUpperCase());
      const found = typeNamed(words.join(" "));
      if (found === null) continue;
      name = found;
      this.at = end + 1;
    }
    if (name === undefined)
      throw this.expected("a type", "Types are INTEGER, FLOAT, STRING, BOOLEAN, DATE, LIST<STRING> and their like.");
    const vector = name === "VECTOR" ? this.vectorShape() : undefined;
    let item: CypherType[] | null = null;
    if (vector === undefined && this.kind === "<") {
      this.at++;
      const outer = this.barEnds;
      this.barEnds = false;
      item = this.typeAlternatives();
      this.barEnds = outer;
      this.expect(">");
    }
    let types: CypherType[] =
      name === "ANY" && item !== null
        ? item
        : [{ name, item: name === "LIST" ? item : null, ...(vector && { vector }), notNull: this.notNull() }];
    // `STRING LIST`, an older way to write LIST<STRING>.
    while (this.isName(this.at) && /^(?:LIST|ARRAY)$/i.test(this.word())) {
      this.at++;
      types = [{ name: "LIST", item: types, notNull: this.notNull() }];
    }
    this.leave();
    return types;
  }

  /** `<FLOAT32>(3)`, either of both, or nothing. */
  private vectorShape(): VectorShape {
    let coordinate: VectorShape["coordinate"] = null;
    if (this.accept("<")) {
      coordinate = this.coordinateType();
      this.expect(">");
    }
    if (!this.accept("(")) return { coordinate, dimension: null };
    const position = this.position();
    const dimension = this.expression();
    if (dimension.kind !== "integer" || dimension.value < 1 || dimension.value > DIMENSIONS_MAX) {
      throw this.error(position, "UnexpectedSyntax", `a vector has 1 to ${DIMENSIONS_MAX} dimensions`);
    }
    this.expect(")");
    return { coordinate, dimension: Number(dimension.value) };
  }

  private notNull(): boolean {
    if (this.accept("!")) return true;
    return this.acceptKeywords("NOT", "NULL");
  }
}

const PATH_MODES: Readonly<Record<string, Pick<PathPattern, "mode">>> = {
  WALK: {},
  TRAIL: { mode: "trail" },
  ACYCLIC: { mode: "acyclic" },
};

const NOTHING_SAID = {
  variable: null,
  types: null,
  similarity: null,
  length: null,
  properties: null,
  where: null,
} as const;
