/**
 * Expressions, by binding power (Pratt). From loose to tight, as in the grammar of openCypher 9:
 * OR · XOR · AND · NOT · comparisons · IN, STARTS WITH, IS NULL … · + − · * / % · ^ · sign · property, index, label.
 * What begins an expression is in `atoms.ts`, which extends this class.
 */
import { CYPHER_DEPTH_MAX } from "../../protocol/limits.js";
import type { ComparisonOperator, Expr, LabelExpr, Literal, PatternExpr } from "./ast.js";
import { floatValue, integerValue } from "./literals.js";
import { TokenReader } from "./token-reader.js";

const OR = 1;
const XOR = 2;
const AND = 3;
const NOT = 4;
const COMPARISON = 5;
const PREDICATE = 6;
const SUM = 7;
const PRODUCT = 8;
const POWER = 9;
const SIGN = 10;
/** Nothing but properties, indexes and labels after an atom. */
export const POSTFIX = 11;

type LogicalOperator = "AND" | "OR" | "XOR";

export abstract class ExpressionParser extends TokenReader {
  /** Inside of a comprehension a bar ends an expression, so that it cannot join labels: `[x IN xs WHERE x:A | x]`. */
  protected barEnds = false;
  /** The query that is read is one of EXISTS or COUNT, whose rows count. */
  protected isCounted = false;
  /** The greatest height of the expressions read since the enclosing one began. */
  private height = 0;
  /** Patterns read as expressions that no truth value has been asked of. */
  private readonly unplaced: PatternExpr[] = [];

  protected abstract atom(): Expr;
  protected abstract labels(or: boolean, colons: boolean): LabelExpr;
  /** A type as `values/cypher-type.ts` writes it. */
  protected abstract valueType(): string;

  protected expression(min = OR): Expr {
    this.enter();
    const outer = this.height;
    this.height = 0;
    let left = this.prefix(min);
    for (;;) {
      const power = this.infixPower();
      if (power < min || power === 0) break;
      left = this.infix(left, power);
      this.grow();
    }
    this.grow();
    if (this.height < outer) this.height = outer;
    this.leave();
    return left;
  }

  /** An expression in brackets of its own, or one that a bar ends. */
  protected inner(barEnds = false): Expr {
    const outer = this.barEnds;
    this.barEnds = barEnds;
    const expr = this.expression();
    this.barEnds = outer;
    return expr;
  }

  /** An expression that must be a truth value, so that it may be a pattern. */
  protected condition(barEnds = this.barEnds): Expr {
    return this.place(this.inner(barEnds));
  }

  protected optionalWhere(barEnds = false): Expr | null {
    return this.acceptKeyword("WHERE") ? this.condition(barEnds) : null;
  }

  /** A pattern as an expression; the reader of a truth value calls `place`. */
  protected unplacedPattern(pattern: PatternExpr): PatternExpr {
    if (pattern.pattern.search === "all") this.unplaced.push(pattern);
    return pattern;
  }

  protected place(expr: Expr): Expr {
    if (expr.kind === "pattern" && this.unplaced.at(-1) === expr) this.unplaced.pop();
    return expr;
  }

  /** Throws UnexpectedSyntax if a pattern stood where a value is wanted. */
  protected checkPatternsPlaced(): void {
    const pattern = this.unplaced[0];
    if (pattern === undefined) return;
    throw this.error(pattern.position, "UnexpectedSyntax", "a pattern is only a predicate, it has no value");
  }

  private grow(): void {
    if (++this.height > CYPHER_DEPTH_MAX) throw this.tooDeep();
  }

  private prefix(min: number): Expr {
    const position = this.position();
    const kind = this.kind;
    if (kind === "-" || kind === "+") return this.sign(kind, position);
    if (this.keyword === "NOT" && min <= NOT) {
      this.at++;
      return { kind: "not", operand: this.place(this.expression(NOT)), position };
    }
    return this.postfix(this.atom());
  }

  /** The sign of a bare number is part of it: only so can −2^63 be written. */
  private sign(operator: "+" | "-", position: number): Expr {
    this.at++;
    if (operator === "-" && (this.kind === "integer" || this.kind === "float")) {
      const next = this.kinds[this.at + 1];
      if (next !== "." && next !== "[" && (next !== ":" || this.kinds[this.at + 2] === ":"))
        return this.number(true, position);
    }
    return { kind: "unary", operator, operand: this.expression(SIGN), position };
  }

  /** The number that the next token is, of which `position` is the beginning with its sign. */
  protected number(negative: boolean, position: number): Literal {
    const { text, kind } = this;
    const at = this.at++;
    const start = this.position(at);
    if (kind === "integer") {
      return { kind, value: integerValue(text, start, this.end(at), negative), position };
    }
    const value = floatValue(text, start, this.end(at));
    return { kind: "float", value: negative ? -value : value, position };
  }

  private postfix(atom: Expr): Expr {
    let target = atom;
    for (;;) {
      const position = this.position();
      if (this.accept(".")) {
        target = { kind: "property", target, name: this.name("a property's name"), position };
      } else if (this.accept("[")) {
        target = this.element(target, position);
      } else if (this.kind === ":" && this.kinds[this.at + 1] !== ":") {
        this.at++;
        target = { kind: "label-test", target, labels: this.labels(!this.barEnds, true), position };
      } else {
        return target;
      }
      this.grow();
    }
  }

  private element(target: Expr, position: number): Expr {
    const from = this.kind === ".." ? null : this.inner();
    if (this.accept("..")) {
      const to = this.kind === "]" ? null : this.inner();
      this.expect("]");
      return { kind: "slice", target, from, to, position };
    }
    this.expect("]");
    return { kind: "index", target, index: from!, position };
  }

  /** How tightly the next token binds as an operator between two expressions; 0: it is none. */
  private infixPower(): number {
    switch (this.kind) {
      case "word":
        switch (this.keyword) {
          case "OR":
            return OR;
          case "XOR":
            return XOR;
          case "AND":
            return AND;
          case "IN":
          case "IS":
          case "STARTS":
          case "ENDS":
          case "CONTAINS":
            return PREDICATE;
          default:
            return 0;
        }
      case "=":
      case "<>":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return COMPARISON;
      case "=~":
      case ":":
        return PREDICATE;
      case "|":
        return this.isConcatenation() ? SUM : 0;
      case "+":
      case "-":
        return SUM;
      case "*":
      case "/":
      case "%":
        return PRODUCT;
      case "^":
        return POWER;
      default:
        return 0;
    }
  }

  private infix(left: Expr, power: number): Expr {
    if (power < NOT) return this.logical(left, power);
    if (power === COMPARISON) return this.comparison(left);
    if (power === PREDICATE) return this.predicate(left);
    const position = this.position();
    const operator = this.kind === "|" ? "||" : (this.kind as "+" | "-" | "*" | "/" | "%" | "^");
    this.at += operator.length;
    return { kind: "arithmetic", operator, left, right: this.expression(power + 1), position };
  }

  /** Two bars without a blank between. */
  private isConcatenation(): boolean {
    return this.kinds[this.at + 1] === "|" && this.position(this.at + 1) === this.position() + 1;
  }

  private logical(first: Expr, power: number): Expr {
    const position = this.position();
    const operator = this.keyword as LogicalOperator;
    const operands = [this.place(first)];
    while (this.acceptKeyword(operator)) operands.push(this.place(this.expression(power + 1)));
    return { kind: "logical", operator, operands, position };
  }

  private comparison(first: Expr): Expr {
    const rest: { operator: ComparisonOperator; operand: Expr; position: number }[] = [];
    const start = this.position();
    while (this.infixPower() === COMPARISON) {
      const position = this.position();
      const operator = this.kind as ComparisonOperator;
      this.at++;
      rest.push({ operator, operand: this.expression(PREDICATE), position });
    }
    return { kind: "comparison", first, rest, position: start };
  }

  private predicate(left: Expr): Expr {
    const position = this.position();
    const { keyword } = this;
    this.at++;
    switch (keyword) {
      case "IN":
        return { kind: "in", item: left, list: this.expression(SUM), position };
      case "IS":
        return this.isTest(left, position);
      case "":
        if (this.kinds[this.at - 1] === ":") {
          this.expect(":");
          return this.typeTest(left, false, position);
        }
        return { kind: "text-match", operator: "=~", left, right: this.expression(SUM), position };
      case "CONTAINS":
        return { kind: "text-match", operator: "CONTAINS", left, right: this.expression(SUM), position };
      case "STARTS":
      case "ENDS":
        this.expectKeyword("WITH");
        return { kind: "text-match", operator: `${keyword} WITH`, left, right: this.expression(SUM), position };
      default:
        throw this.expected("an operator");
    }
  }

  /** What comes after IS: `[NOT] NULL`, `[NOT] :: TYPE`, `[NOT] [NFC] NORMALIZED`, labels. */
  private isTest(operand: Expr, position: number): Expr {
    const negated = this.acceptKeyword("NOT");
    if (this.acceptKeyword("NULL")) return { kind: "null-test", operand, negated, position };
    if (this.acceptKeyword("TYPED")) return this.typeTest(operand, negated, position);
    if (this.kind === ":" && this.kinds[this.at + 1] === ":") {
      this.at += 2;
      return this.typeTest(operand, negated, position);
    }
    const isForm = this.keywords[this.at + 1] === "NORMALIZED";
    if (isForm || this.keyword === "NORMALIZED") {
      const form = isForm ? this.name("a normal form").toUpperCase() : "NFC";
      this.expectKeyword("NORMALIZED");
      return this.tested("is normalized", operand, form, negated, position);
    }
    if (negated) throw this.expected("NULL, a type or NORMALIZED");
    return { kind: "label-test", target: operand, labels: this.labels(!this.barEnds, false), position };
  }

  private typeTest(operand: Expr, negated: boolean, position: number): Expr {
    return this.tested("is typed", operand, this.valueType(), negated, position);
  }

  /** A test that is a function under a name which only quotes can write. */
  private tested(name: string, operand: Expr, by: string, negated: boolean, position: number): Expr {
    const args: Expr[] = [operand, { kind: "string", value: by, position }];
    const test: Expr = { kind: "call", name, distinct: false, args, position };
    return negated ? { kind: "not", operand: test, position } : test;
  }

  /** What an operator without its left side says of a value: `WHEN > 3`, `WHEN IS NULL`; null: none follows. */
  protected rest(left: Expr): Expr | null {
    const power = this.infixPower();
    return power === COMPARISON || power === PREDICATE ? this.infix(left, power) : null;
  }
}
