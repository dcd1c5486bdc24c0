/** Reads the text in the parentheses of GRAPH_TABLE (…). Called by parse.ts for each that dialect.ts has found. */
import type { AliasNode, ExprNode, GraphElementNode, GraphLabelNode, GraphTableNode } from "./ast-query.js";
import { GraphReader } from "./graph-reader.js";

export type GraphTableBody = Omit<GraphTableNode, "alias">;

export const withAlias = (body: GraphTableBody, alias: AliasNode | null): GraphTableNode => ({ ...body, alias });

export class GraphTableReader extends GraphReader {
  /** From GRAPH_TABLE to its closing parenthesis, the last token. */
  read(): GraphTableBody {
    const { position } = this;
    this.at += 2;
    const graph = this.qualifiedName();
    this.expectWord("match");
    const paths = this.commaList(() => this.path());
    const columnsAt = this.columnsAt();
    const where = this.acceptWord("where") ? this.exprUntil(columnsAt) : null;
    this.expectWord("columns");
    const close = this.closing(this.at);
    this.expect("(");
    const columns = this.targetsUntil(close);
    this.at++;
    if (this.at !== this.tokens.length - 1) throw this.unexpected();
    return { kind: "graph table", graph, paths, where, columns, position };
  }

  /** Where COLUMNS (…) begins: the last thing in the parentheses. */
  private columnsAt(): number {
    for (let i = this.tokens.length - 2; i >= this.at; i--) {
      const { kind, text, depth } = this.tokens[i]!;
      if (kind === "word" && text === "columns" && depth === this.tokens[1]!.depth) return i;
    }
    return this.tokens.length - 1;
  }

  private exprUntil(close: number): ExprNode {
    const start = this.at;
    const targets = this.targetsUntil(close);
    if (targets.length === 1 && targets[0]!.name === null) return targets[0]!.expr;
    this.at = start;
    throw this.unexpected();
  }

  private path(): GraphElementNode[] {
    if (this.isName() && this.isSymbol("=", 1)) throw this.unsupported("a path variable in GRAPH_TABLE");
    if (this.isName()) throw this.unsupported("a path prefix in GRAPH_TABLE", SEARCHES);
    const elements = [this.vertex()];
    while (this.isSymbol("-") || this.isSymbol("<") || this.isSymbol("~")) elements.push(this.edge(), this.vertex());
    return elements;
  }

  private vertex(): GraphElementNode {
    const { position } = this;
    if (!this.isSymbol("(")) throw this.unexpected();
    if (this.isSymbol("(", 1)) throw this.unsupported("a path in parentheses in GRAPH_TABLE");
    const inside = this.inside(this.closing(this.at));
    this.refuseQuantifier();
    return { kind: "vertex", direction: "either", ...inside, position };
  }

  private edge(): GraphElementNode {
    const { position } = this;
    if (this.isSymbol("~")) throw this.unsupported("an undirected edge in GRAPH_TABLE", "Edges must have a direction.");
    const left = this.accept("<");
    this.expect("-");
    let inside: Pick<GraphElementNode, "variable" | "labels" | "where"> = { variable: null, labels: null, where: null };
    if (this.isSymbol("[")) {
      inside = this.inside(this.closing(this.at));
      this.expect("-");
    }
    const right = this.accept(">");
    this.refuseQuantifier();
    return { kind: "edge", direction: left === right ? "either" : left ? "left" : "right", ...inside, position };
  }

  private refuseQuantifier(): void {
    for (const mark of ["{", "*", "+", "?"]) {
      if (this.isSymbol(mark)) throw this.unsupported("a path of variable length in GRAPH_TABLE", SEARCHES);
    }
  }

  /** `variable IS labels WHERE condition` between the brackets. */
  private inside(close: number): Pick<GraphElementNode, "variable" | "labels" | "where"> {
    this.at++;
    const named = this.isName() && !this.isWord("where") && !this.isWord("is");
    const variable = named ? this.name() : null;
    const labels = this.acceptWord("is") || this.accept(":") ? this.anyOf() : null;
    const where = this.acceptWord("where") ? this.exprUntil(close) : null;
    if (this.at !== close) throw this.unexpected();
    this.at++;
    return { variable, labels, where };
  }

  private anyOf(): GraphLabelNode {
    const { position } = this;
    const operands = [this.allOf()];
    while (this.accept("|")) operands.push(this.allOf());
    return operands.length === 1 ? operands[0]! : { kind: "or", operands, position };
  }

  private allOf(): GraphLabelNode {
    const { position } = this;
    const operands = [this.label()];
    while (this.accept("&")) operands.push(this.label());
    return operands.length === 1 ? operands[0]! : { kind: "and", operands, position };
  }

  private label(): GraphLabelNode {
    const { position } = this;
    if (this.accept("%")) return { kind: "any", position };
    if (this.accept("!")) return { kind: "not", operand: this.label(), position };
    if (this.accept("(")) {
      const labels = this.anyOf();
      this.expect(")");
      return labels;
    }
    return { kind: "label", name: this.name(), position };
  }
}

const SEARCHES = "Cypher and WITH RECURSIVE follow paths of any length.";
