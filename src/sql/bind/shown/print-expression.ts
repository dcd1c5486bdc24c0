/**
 * Expressions as PostgreSQL prints those of views: names in full, constants with their types, the casts that it adds
 * by itself, and what IN, BETWEEN and their kin are made of. See also print-call.ts.
 */
import { commonType } from "../../../query/expr/coercion.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { baseType, categoryOf } from "../../../query/expr/types.js";
import { isNamedOid } from "../../../values/catalog-types.js";
import { INT4, type SqlType, TEXT } from "../../../values/values.js";
import type { CastNode, ExprNode, InNode, QuantifiedNode, SubqueryNode, TypeNode } from "../../parse/ast-query.js";
import { bindType } from "../bind-type.js";
import type { Binding } from "../binding.js";
import { operandTypes, type Wanted } from "./argument-types.js";
import { constantText, type Label, literalText } from "./constant-text.js";
import { type Around, isSimple, type Piece } from "./layout.js";
import { CallPrinter } from "./print-call.js";
import { NotPrinted, type PrintContext } from "./print-context.js";

type Comparing = "=" | "<>" | "<" | "<=" | ">" | ">=";

const NEGATED: Readonly<Record<string, Comparing>> = { ">=": "<", "<=": ">" };

export class ExpressionPrinter {
  readonly calls: CallPrinter;

  constructor(
    readonly context: PrintContext,
    private readonly types: Binding,
  ) {
    this.calls = new CallPrinter(this);
  }

  /** As a condition or a target; casts that nobody wrote are shown where `shows` says so. */
  text(node: ExprNode, wanted: Wanted = null, shows = true): string {
    return this.value(node, wanted, shows).text;
  }

  typeOf(node: ExprNode): SqlType {
    return this.context.bound(node).type;
  }

  /** The expression as a value of the type that its place asks for. */
  value(node: ExprNode, wanted: Wanted = null, shows = true): Piece {
    const own = this.typeOf(node);
    if (own.name === "unknown") {
      const constant = this.constant(node, "usual", wanted ?? TEXT);
      if (constant !== null) return constant;
      if (node.kind === "cast") return this.value(node.input, wanted);
      if (node.kind === "collate") return this.piece(node);
    }
    const piece = this.piece(node);
    if (wanted === null || !shows || this.isSame(own, wanted)) return piece;
    return this.casted(piece, wanted, own);
  }

  /** In parentheses where the place needs them. */
  inside(piece: Piece, around: Around): string {
    return this.context.layout.isPretty && !isSimple(piece, around) ? `(${piece.text})` : piece.text;
  }

  /** With the parentheses that all have that are not printed prettily. */
  wrapped(text: string): string {
    return this.context.layout.isPretty ? text : `(${text})`;
  }

  /** A constant; null: it is none. */
  constant(node: ExprNode, label: Label, type: SqlType | null = null): Piece | null {
    const simple = (text: string): Piece => ({ kind: "simple", text });
    const { names } = this.context;
    if (node.kind === "string") {
      const of = type ?? TEXT;
      if (of.user?.kind === "domain") return this.casted(this.constant(node, label, of.user.base)!, of, of.user.base!);
      return simple(literalText(node.value, of, label, names));
    }
    if (node.kind === "null") return simple(constantText(type ?? TEXT, null, label, names));
    const bound = this.context.notes.exprs.get(node);
    const isLiteral = /^(?:boolean|integer|number|bits)$/.test(node.kind);
    const isSigned = node.kind === "operator" && node.left === null && /^[-+]$/.test(node.name);
    if ((!isLiteral && !isSigned) || bound?.kind !== "const") return null;
    return simple(constantText(bound.type, bound.value, label, names));
  }

  /** `from`: the type that it has. */
  casted(piece: Piece, type: SqlType, from: SqlType): Piece {
    const around = { kind: "cast" } as const;
    const inner = this.wrapped(this.inside(piece, around));
    const isCall = categoryOf(baseType(from)) === categoryOf(baseType(type)) && categoryOf(baseType(type)) !== "S";
    const kind = isCall || isSimple(piece, around) ? "simple" : "other";
    return { kind, text: `${inner}::${this.context.names.type(type)}` };
  }

  private isSame(one: SqlType, other: SqlType): boolean {
    if (one.user?.kind === "domain" || other.user?.kind === "domain") return one === other;
    if (isNamedOid(one) !== isNamedOid(other)) return false;
    const { names } = this.context;
    return one === other || names.type(baseType(one)) === names.type(baseType(other));
  }

  private piece(node: ExprNode): Piece {
    const constant = this.constant(node, "usual");
    if (constant !== null) return constant;
    switch (node.kind) {
      case "column":
        return this.column(node);
      case "parameter":
        return { kind: "simple", text: `$${node.index + 1}` };
      case "operator":
        return this.operator(node);
      case "and":
      case "or":
        return this.logic(
          node.kind,
          node.args.map((arg) => this.value(arg, null)),
        );
      case "not":
        return this.not(this.value(node.input, null));
      case "cast":
        return this.cast(node);
      case "call":
        return this.calls.call(node);
      case "case":
        return this.calls.cases(node);
      case "subquery":
        return this.subquery(node);
      case "in":
        return this.list(node);
      case "quantified":
        return this.quantified(node);
      case "between": {
        const { input, low, high, symmetric, negated } = node;
        const within = (from: ExprNode, to: ExprNode) => this.between(input, from, to, negated);
        if (!symmetric) return within(low, high);
        return this.logic(negated ? "and" : "or", [within(low, high), within(high, low)]);
      }
      default:
        return this.other(node);
    }
  }

  private other(node: ExprNode): Piece {
    const { isPretty } = this.context.layout;
    const simple = (text: string): Piece => ({ kind: "simple", text });
    switch (node.kind) {
      case "is null":
        return this.test(this.value(node.input), `IS ${node.negated ? "NOT " : ""}NULL`);
      case "is boolean": {
        const value = node.value === null ? "UNKNOWN" : String(node.value).toUpperCase();
        return this.test(this.value(node.input, null, false), `IS ${node.negated ? "NOT " : ""}${value}`);
      }
      case "distinct from":
        return this.distinct(node.left, node.right, node.negated);
      case "nullif": {
        const [left, right] = operandTypes("=", this.typeOf(node.left), this.typeOf(node.right));
        return simple(`NULLIF(${this.text(node.left, left)}, ${this.text(node.right, right)})`);
      }
      case "coalesce":
      case "greatest":
      case "least":
        return simple(`${node.kind.toUpperCase()}(${this.alike(node.args, node.kind.toUpperCase())})`);
      case "array":
        return simple(`ARRAY[${this.alike(node.elements, "ARRAY")}]`);
      case "row":
        return simple(`ROW(${node.items.map((item) => this.text(item, null)).join(", ")})`);
      case "field": {
        const input = this.value(node.input);
        if (node.name === "*") throw new NotPrinted("a row that is taken apart");
        const plain = node.input.kind === "field" || node.input.kind === "subscript";
        return { kind: "field", text: `${plain ? input.text : `(${input.text})`}.${quoteIdentifier(node.name)}` };
      }
      case "subscript":
        return this.subscript(node);
      case "collate": {
        const input = this.inside(this.value(node.input), { kind: "other" });
        const text = `${input} COLLATE ${node.collation.slice(-1).map((name) => `"${name}"`)}`;
        return { kind: "other", text: isPretty ? text : `(${text})` };
      }
      case "value function":
        return simple(node.name.toUpperCase() + (node.precision === null ? "" : `(${node.precision})`));
      case "grouping":
        return simple(`GROUPING(${node.args.map((arg) => this.text(arg)).join(", ")})`);
      default:
        throw new NotPrinted(node.kind);
    }
  }

  private column(node: Extract<ExprNode, { kind: "column" }>): Piece {
    const { notes } = this.context;
    const column = notes.columns.get(node);
    if (column !== undefined) return { kind: "simple", text: this.context.column(column) };
    const row = notes.rows.get(node);
    if (row === undefined) throw new NotPrinted("a column that means something else");
    return { kind: "simple", text: `${this.context.row(row)}.*` };
  }

  private test(input: Piece, text: string): Piece {
    return { kind: "test", text: this.wrapped(`${this.inside(input, { kind: "test" })} ${text}`) };
  }

  logic(kind: "and" | "or", parts: readonly Piece[]): Piece {
    const joined = parts.map((part) => this.inside(part, { kind })).join(` ${kind.toUpperCase()} `);
    return { kind, text: this.wrapped(joined) };
  }

  private not(input: Piece): Piece {
    return { kind: "not", text: this.wrapped(`NOT ${this.inside(input, { kind: "not" })}`) };
  }

  private operator(node: Extract<ExprNode, { kind: "operator" }>): Piece {
    const { left, right } = node;
    if (left?.kind === "row" && right.kind === "row") return this.rows(node.name, left.items, right.items);
    if (left?.kind === "row" || right.kind === "row") throw new NotPrinted("a row that is compared");
    if (this.context.notes.exprs.get(node) === undefined) throw new NotPrinted("an operator that was not bound");
    const isOwn = node.schema !== undefined && node.schema !== "pg_catalog";
    const name = isOwn ? `OPERATOR(${quoteIdentifier(node.schema!)}.${node.name})` : node.name;
    return this.compared(name, left, right);
  }

  /** An operator between expressions. */
  compared(given: string, left: ExprNode | null, right: ExprNode): Piece {
    const name = given === "!=" ? "<>" : given;
    const types = this.operands(name, left, right);
    const at = (piece: Piece, first: boolean) => this.inside(piece, { kind: "operator", operator: name, first });
    const second = at(this.value(right, types[1]), left === null);
    if (left === null) return { kind: "operator", text: this.wrapped(`${name} ${second}`) };
    const text = `${at(this.value(left, types[0]), true)} ${name} ${second}`;
    return { kind: "operator", text: this.wrapped(text), operator: name };
  }

  private operands(name: string, left: ExprNode | null, right: ExprNode): readonly [Wanted, Wanted] {
    if (name.startsWith("OPERATOR(")) return [null, null];
    return operandTypes(name, left === null ? null : this.typeOf(left), this.typeOf(right));
  }

  private rows(name: string, left: readonly ExprNode[], right: readonly ExprNode[]): Piece {
    const pairs = left.map((item, i) => [item, right[i]!] as const);
    if (name === "=" || name === "<>") {
      const tests = pairs.map(([one, other]) => this.compared(name, one, other));
      return tests.length === 1 ? tests[0]! : this.logic(name === "=" ? "and" : "or", tests);
    }
    const types = pairs.map(([one, other]) => this.operands(name, one, other));
    const list = (side: 0 | 1) => pairs.map((pair, i) => this.text(pair[side], types[i]![side])).join(", ");
    return { kind: "other", text: `(ROW(${list(0)}) ${name} ROW(${list(1)}))` };
  }

  private between(input: ExprNode, low: ExprNode, high: ExprNode, negated: boolean): Piece {
    const compare = (name: Comparing, bound: ExprNode) => this.compared(negated ? NEGATED[name]! : name, input, bound);
    return this.logic(negated ? "or" : "and", [compare(">=", low), compare("<=", high)]);
  }

  private distinct(left: ExprNode, right: ExprNode, negated: boolean): Piece {
    if (left.kind === "row" || right.kind === "row") throw new NotPrinted("rows that are told apart");
    const isNull = left.kind === "null" ? right : right.kind === "null" ? left : null;
    if (isNull !== null) return this.test(this.value(isNull), `IS ${negated ? "" : "NOT "}NULL`);
    const types = this.operands("=", left, right);
    const at = (node: ExprNode, i: 0 | 1) => this.inside(this.value(node, types[i]), { kind: "test" });
    const test: Piece = { kind: "test", text: this.wrapped(`${at(left, 0)} IS DISTINCT FROM ${at(right, 1)}`) };
    return negated ? this.not(test) : test;
  }

  // ---- lists ----

  /** Values of one type. */
  alike(nodes: readonly ExprNode[], construct: string): string {
    const type = commonType(
      nodes.map((node) => this.typeOf(node)),
      construct,
    );
    return nodes.map((node) => this.text(node, type)).join(", ");
  }

  /** Constants, and what reads no column, are one array; each of the others is compared alone. */
  private list(node: InNode): Piece {
    const { input, items, negated } = node;
    if (input.kind === "row" || items.some(({ kind }) => kind === "row")) throw new NotPrinted("IN with rows");
    const name = negated ? "<>" : "=";
    const isAlone = (item: ExprNode) => readsColumns(item);
    const many = items.filter((item) => !isAlone(item));
    const alone = many.length > 1 ? items.filter(isAlone) : items;
    const tests = alone.map((item) => this.compared(name, input, item));
    if (many.length > 1) tests.unshift(this.inArray(input, items, many, negated));
    return tests.length === 1 ? tests[0]! : this.logic(negated ? "and" : "or", tests);
  }

  private inArray(input: ExprNode, all: readonly ExprNode[], items: readonly ExprNode[], negated: boolean): Piece {
    const type = commonType(
      [input, ...all].map((each) => this.typeOf(each)),
      "IN",
    );
    const own = this.typeOf(input);
    const [left, right] = operandTypes("=", own.name === "unknown" ? type : own, type);
    const array: Piece = {
      kind: "simple",
      text: `ARRAY[${items.map((item) => this.text(item, type)).join(", ")}]`,
    };
    return this.any(
      negated ? "<>" : "=",
      negated,
      this.value(input, left ?? openAs(own, type)),
      this.arrayAs(array, type, right),
    );
  }

  private arrayAs(array: Piece, from: SqlType, to: Wanted): Piece {
    if (to === null || this.isSame(from, to)) return array;
    const text = `${this.wrapped(array.text)}::${this.context.names.type(to)}[]`;
    return { kind: "simple", text };
  }

  private any(name: string, all: boolean, left: Piece, array: Piece): Piece {
    const around: Around = { kind: "other" };
    const text = `${this.inside(left, around)} ${name} ${all ? "ALL" : "ANY"} (${this.inside(array, around)})`;
    return { kind: "other", text: this.wrapped(text) };
  }

  private quantified(node: QuantifiedNode): Piece {
    const { left, array, all } = node;
    if (array.kind === "array" && array.elements.length > 0) return this.ofArray(node, array.elements);
    const own = this.typeOf(array);
    const element = own.name === "unknown" ? this.typeOf(left) : own.element;
    if (element === null) throw new NotPrinted("ANY of what is no array");
    const leftType = this.typeOf(left);
    const types = operandTypes(node.name, leftType.name === "unknown" ? element : leftType, element);
    if (own.name === "unknown") {
      const constant = this.constant(array, "usual", arrayTypeOf(this, array, node));
      return this.any(node.name, all, this.value(left, types[0]), constant!);
    }
    const piece = this.arrayAs(this.value(array), element, types[1]);
    return this.any(node.name, all, this.value(left, types[0] ?? openAs(leftType, element)), piece);
  }

  /** Beside ARRAY[…], whose elements alone were bound. */
  private ofArray({ left, name, all }: QuantifiedNode, elements: readonly ExprNode[]): Piece {
    if (elements.some(({ kind }) => kind === "array")) throw new NotPrinted("ANY of an array of arrays");
    const type = commonType(
      elements.map((each) => this.typeOf(each)),
      "ARRAY",
    );
    const own = this.typeOf(left);
    const types = operandTypes(name, own.name === "unknown" ? type : own, type);
    const array: Piece = { kind: "simple", text: `ARRAY[${elements.map((each) => this.text(each, type)).join(", ")}]` };
    return this.any(name, all, this.value(left, types[0] ?? openAs(own, type)), this.arrayAs(array, type, types[1]));
  }

  // ---- others ----

  private cast(node: CastNode): Piece {
    const { input } = node;
    const type = bindType(node.type, this.types);
    const isDomain = type.user?.kind === "domain";
    if (input.kind === "array" && type.element !== null && !isDomain) {
      if (input.elements.length === 0) return { kind: "simple", text: `ARRAY[]::${this.context.names.type(type)}` };
      const { element } = type;
      const nested = input.elements.some(({ kind }) => kind === "array");
      if (nested) throw new NotPrinted("an array of arrays with a cast");
      return {
        kind: "simple",
        text: `ARRAY[${input.elements.map((each) => this.explicit(each, element).text).join(", ")}]`,
      };
    }
    return this.explicit(input, type);
  }

  private explicit(node: ExprNode, type: SqlType): Piece {
    const from = this.typeOf(node);
    if (from.name === "unknown" && (node.kind === "string" || node.kind === "null")) {
      if (type.user?.kind === "domain" || type.modifier === null) return this.constant(node, "usual", type)!;
      const label = this.constant(node, "never", baseType(type))!;
      return { kind: "simple", text: `${label.text}::${this.context.names.type(type)}` };
    }
    if (node.kind === "row" && type.fields !== undefined && type.fields.length === node.items.length) {
      const items = node.items.map((item, i) => this.text(item, type.fields![i]!.type));
      return { kind: "simple", text: `ROW(${items.join(", ")})::${this.context.names.type(type)}` };
    }
    const piece = this.value(node, null, false);
    if (this.isSame(from, type) && (type.modifier === null || type.modifier === from.modifier)) return piece;
    if (this.isSame(from, type)) {
      const bare = this.constant(node, "never");
      if (bare !== null) return { kind: "simple", text: `${bare.text}::${this.context.names.type(type)}` };
    }
    return this.casted(piece, type, from);
  }

  private subscript(node: Extract<ExprNode, { kind: "subscript" }>): Piece {
    const bound = (expr: ExprNode | null) => (expr === null ? "" : this.text(expr, subscriptType(this.typeOf(expr))));
    const joined = node.input.kind === "subscript" && node.separate !== true;
    const input = this.value(node.input);
    const plain = joined || node.input.kind === "column" || node.input.kind === "field";
    const from = node.slice ? `${bound(node.lower)}:` : "";
    return { kind: "simple", text: `${plain ? input.text : `(${input.text})`}[${from}${bound(node.upper)}]` };
  }

  private subquery(node: SubqueryNode): Piece {
    const query = this.context.query(node.query, false);
    const test = (text: string): Piece => ({ kind: "test", text });
    if (node.form === "scalar") return test(query);
    if (node.form === "array") return test(`ARRAY${query}`);
    if (node.form === "exists") return test(`(EXISTS ${query})`);
    const input = node.input!;
    const isMany = input.kind === "row" && input.items.length > 1;
    const left = isMany ? `(${input.items.map((item) => this.text(item)).join(", ")})` : this.text(input);
    const isIn = node.form === "any" && node.operator === "=";
    const name = isIn ? "IN" : `${node.operator} ${node.form.toUpperCase()}`;
    return test(`(${left} ${name} ${query})`);
  }

  typeText(node: TypeNode): string {
    return this.context.names.type(bindType(node, this.types));
  }

  /** The type that the right operand becomes. */
  beside(name: string, left: ExprNode, right: ExprNode): Wanted {
    return this.operands(name, left, right)[1];
  }
}

/** A literal becomes what it is compared with. */
const openAs = (own: SqlType, type: SqlType): Wanted => (own.name === "unknown" ? type : null);

const subscriptType = (type: SqlType): Wanted => (type.name === "unknown" ? INT4 : null);

/** The type of a literal that is an array beside ANY. */
function arrayTypeOf(printer: ExpressionPrinter, array: ExprNode, node: QuantifiedNode): SqlType {
  const bound = printer.context.notes.exprs.get(node);
  const args = bound?.kind === "call" ? bound.args : [];
  const type = args[1]?.type;
  if (array.kind !== "string" || type === undefined) throw new NotPrinted("ANY of a literal");
  return type;
}

/** Whether a column of this or another query is named in it. */
function readsColumns(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ((value as { readonly kind?: string }).kind === "column") return true;
  return Object.values(value).some(readsColumns);
}
