/** Expressions and patterns as Cypher text that parses to the same tree. Called by `print.ts`, EXPLAIN and tests. */
import type {
  Expr,
  LabelExpr,
  MapLiteral,
  MapProjectionItem,
  NodePattern,
  Parameter,
  PathGroup,
  PathLength,
  PathPattern,
  Query,
  RelationshipPattern,
} from "./ast.js";
import { isKeyword } from "./lexer.js";

/** Prints the query of a subquery; `print.ts` gives it, since queries hold expressions and expressions queries. */
export type PrintQuery = (query: Query) => string;

/** How tightly a printed expression holds together, as in `expressions.ts`. */
const POWERS: Readonly<Record<string, number>> = {
  OR: 1,
  XOR: 2,
  AND: 3,
  not: 4,
  comparison: 5,
  "text-match": 6,
  in: 6,
  "null-test": 6,
  "||": 7,
  "+": 7,
  "-": 7,
  "*": 8,
  "/": 8,
  "%": 8,
  "^": 9,
  unary: 10,
  "label-test": 11,
};
const ATOM = 12;

export class ExprPrinter {
  constructor(private readonly query: PrintQuery) {}

  /** `min`: an expression that holds together less tightly gets parentheses. */
  expr(node: Expr, min = 0): string {
    const text = this.bare(node);
    return powerOf(node) < min ? `(${text})` : text;
  }

  private bare(node: Expr): string {
    switch (node.kind) {
      case "null":
        return "null";
      case "boolean":
      case "integer":
        return String(node.value);
      case "float":
        return printFloat(node.value);
      case "string":
        return printString(node.value);
      case "parameter":
        return `$${printName(node.name)}`;
      case "variable":
        return printVariable(node.name);
      case "not":
        return `NOT ${this.expr(node.operand, POWERS.not)}`;
      case "unary":
        return `${node.operator}(${this.expr(node.operand)})`;
      case "arithmetic": {
        const power = powerOf(node);
        return `${this.expr(node.left, power)} ${node.operator} ${this.expr(node.right, power + 1)}`;
      }
      case "logical":
        return node.operands.map((each) => this.expr(each, powerOf(node) + 1)).join(` ${node.operator} `);
      case "comparison": {
        const rest = node.rest.map(({ operator, operand }) => ` ${operator} ${this.expr(operand, 6)}`);
        return `${this.expr(node.first, 6)}${rest.join("")}`;
      }
      case "text-match":
        return `${this.expr(node.left, 6)} ${node.operator} ${this.expr(node.right, 7)}`;
      case "in":
        return `${this.expr(node.item, 6)} IN ${this.expr(node.list, 7)}`;
      case "null-test":
        return `${this.expr(node.operand, 6)} IS ${node.negated ? "NOT " : ""}NULL`;
      default:
        return this.bracketed(node);
    }
  }

  private bracketed(node: Exclude<Expr, { kind: "null" | "boolean" | "integer" | "float" | "string" }>): string {
    switch (node.kind) {
      case "property":
        return `${this.target(node.target)}.${printName(node.name)}`;
      case "index":
        return `${this.target(node.target)}[${this.expr(node.index)}]`;
      case "slice":
        return `${this.target(node.target)}[${this.optional(node.from)}..${this.optional(node.to)}]`;
      case "label-test":
        return `${this.target(node.target)}:${this.labels(node.labels)}`;
      case "call":
        return `${printDotted(node.name)}(${node.distinct ? "DISTINCT " : ""}${this.list(node.args)})`;
      case "count-all":
        return "count(*)";
      case "list":
        return `[${this.items(node.items)}]`;
      case "map":
        return this.map(node);
      case "map-projection":
        return `${printVariable(node.variable.name)} {${node.items.map((item) => this.projected(item)).join(", ")}}`;
      case "case":
        return this.caseExpr(node);
      case "pattern":
        return this.path(node.pattern);
      case "subquery":
        return `${node.result.toUpperCase()} {${this.query(node.query)}}`;
      default:
        return this.comprehension(node);
    }
  }

  private comprehension(node: Expr): string {
    switch (node.kind) {
      case "list-comprehension": {
        const result = node.result === null ? "" : ` | ${this.expr(node.result)}`;
        return `[${this.element(node.variable.name, node.list, node.where)}${result}]`;
      }
      case "pattern-comprehension":
        return `[${this.path(node.pattern)}${this.where(node.where)} | ${this.expr(node.result)}]`;
      case "quantifier":
        return `${node.quantifier}(${this.element(node.variable.name, node.list, node.where)})`;
      case "reduce": {
        const start = `${printVariable(node.accumulator.name)} = ${this.expr(node.initial)}`;
        return `reduce(${start}, ${this.element(node.variable.name, node.list, null)} | ${this.expr(node.result)})`;
      }
      default:
        throw new Error(`no text for ${node.kind}`);
    }
  }

  /** What properties, indexes and labels are taken of: an atom, but no number, whose dot would be part of it. */
  private target(node: Expr): string {
    const number = node.kind === "integer" || node.kind === "float";
    return number ? `(${this.expr(node)})` : this.expr(node, ATOM);
  }

  private optional(node: Expr | null): string {
    return node === null ? "" : this.expr(node);
  }

  private list(nodes: readonly Expr[]): string {
    return nodes.map((node) => this.expr(node)).join(", ");
  }

  /** `[x IN y]` would be a comprehension, so a first item like that gets parentheses. */
  private items(nodes: readonly Expr[]): string {
    const [first, ...rest] = nodes.map((node) => this.expr(node));
    if (first === undefined) return "";
    return [/^(?:\w+|`(?:[^`]|``)*`) IN /.test(first) ? `(${first})` : first, ...rest].join(", ");
  }

  where(node: Expr | null): string {
    return node === null ? "" : ` WHERE ${this.expr(node)}`;
  }

  private element(variable: string, list: Expr, where: Expr | null): string {
    return `${printVariable(variable)} IN ${this.expr(list)}${this.where(where)}`;
  }

  private projected(item: MapProjectionItem): string {
    switch (item.kind) {
      case "all":
        return ".*";
      case "property":
        return `.${printName(item.name)}`;
      case "entry":
        return `${printName(item.key)}: ${this.expr(item.value)}`;
      case "variable":
        return printVariable(item.name);
    }
  }

  private caseExpr({ subject, branches, otherwise }: Extract<Expr, { kind: "case" }>): string {
    const whens = branches.map(({ when, result }) => ` WHEN ${this.expr(when)} THEN ${this.expr(result)}`);
    const otherwiseText = otherwise === null ? "" : ` ELSE ${this.expr(otherwise)}`;
    return `CASE${subject === null ? "" : ` ${this.expr(subject)}`}${whens.join("")}${otherwiseText} END`;
  }

  map({ entries }: MapLiteral): string {
    return `{${entries.map(({ key, value }) => `${printName(key)}: ${this.expr(value)}`).join(", ")}}`;
  }

  path({ variable, search, mode, start, steps, where }: PathPattern): string {
    const chain = steps.map(({ relationship, node }) => this.relationship(relationship) + this.node(node));
    const plain = this.node(start) + chain.join("");
    const said = mode === undefined ? "" : `${mode.toUpperCase()} `;
    const path = said + (where === undefined ? plain : `(${plain}${this.where(where)})`);
    const name = variable === null ? "" : `${printVariable(variable.name)} = `;
    if (search === "all") return name + path;
    if (typeof search === "object") return `${name}SHORTEST ${search.count} ${search.by.toUpperCase()} ${path}`;
    if (steps.length === 1 && where === undefined && mode === undefined && this.isForFunction(steps[0]!.relationship)) {
      return `${name}${search === "shortest" ? "shortestPath" : "allShortestPaths"}(${path})`;
    }
    return `${name}${search === "shortest" ? "SHORTEST 1" : "ALL SHORTEST"} ${path}`;
  }

  private isForFunction({ group, length }: RelationshipPattern): boolean {
    return (group?.further.length ?? 0) === 0 && (length?.min ?? 1) <= 1;
  }

  private node({ variable, labels, properties, where }: NodePattern): string {
    const name = variable === null ? "" : printVariable(variable.name);
    const head = labels === null ? name : `${name}:${this.labels(labels)}`;
    return `(${`${head}${this.properties(properties)}${this.where(where)}`.trimStart()})`;
  }

  private relationship(node: RelationshipPattern): string {
    if (node.group !== undefined) return this.group(node, node.group);
    const { variable, types, similarity, length, properties, where, direction } = node;
    const inside = [
      variable === null ? "" : printVariable(variable.name),
      types === null ? "" : `:${this.labels(types)}`,
      similarity === null ? "" : ` ${similarity.operator} ${this.expr(similarity.threshold)}`,
      length === null ? "" : printLength(length),
      this.properties(properties),
      this.where(where),
    ].join("");
    return `${direction === "left" ? "<" : ""}-${inside === "" ? "" : `[${inside}]`}-${direction === "right" ? ">" : ""}`;
  }

  /** Alternatives get parentheses, since a bar may end an expression. */
  labels(labels: LabelExpr): string {
    const print = (each: LabelExpr) => this.labels(each);
    const joined = (each: LabelExpr) => (each.kind === "and-labels" ? `(${print(each)})` : print(each));
    switch (labels.kind) {
      case "label":
        return printName(labels.name);
      case "any-label":
        return "%";
      case "dynamic-label":
        return `$${labels.any ? "any" : ""}(${this.expr(labels.names)})`;
      case "not-label":
        return `!${joined(labels.operand)}`;
      case "or-labels":
        return `(${labels.operands.map(print).join("|")})`;
      case "and-labels":
        return labels.operands.map(joined).join("&");
    }
  }

  private group({ group: _, length, ...node }: RelationshipPattern, { nodes, further, where }: PathGroup): string {
    const walks = [{ ...node, length: null }, ...further].map((walk) => this.relationship(walk));
    const inside = nodes.map((each, i) => `${this.node(each)}${walks[i] ?? ""}`).join("");
    return ` (${inside}${this.where(where)}){${length?.min ?? 0},${length?.max ?? ""}} `;
  }

  private properties(properties: MapLiteral | Parameter | null): string {
    return properties === null ? "" : ` ${this.expr(properties)}`;
  }
}

function powerOf(node: Expr): number {
  if (node.kind === "logical" || node.kind === "arithmetic") return POWERS[node.operator]!;
  return POWERS[node.kind] ?? ATOM;
}

function printLength({ min, max }: PathLength): string {
  if (min === max) return min === null ? "*" : `*${min}`;
  return `*${min ?? ""}..${max ?? ""}`;
}

/** With a point or an exponent, so that it stays a float. */
function printFloat(value: number): string {
  const text = String(value);
  if (!Number.isFinite(value)) return text;
  if (Object.is(value, -0)) return "-0.0";
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function printString(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** A name where keywords are as good as any. */
export function printName(name: string): string {
  return /^(?:[A-Za-z_]\w*)$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** A variable's name, which is quoted if it is a keyword anywhere. */
export function printVariable(name: string): string {
  return isKeyword(name) ? `\`${name}\`` : printName(name);
}

/** `a.b.c`, a function or procedure. Calls of `any`, `reduce` and the like would be read as something else. */
export function printDotted(name: string): string {
  const [first = "", ...rest] = name.split(".");
  const plain = /^(?:count|collect|exists)$/i.test(first);
  return [plain ? first : printVariable(first), ...rest.map(printName)].join(".");
}
