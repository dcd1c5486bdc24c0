/** Reads CREATE PROPERTY GRAPH and DROP PROPERTY GRAPH of SQL/PGQ. Called by parse.ts. */
import type {
  ColumnNameNode,
  CreatePropertyGraphStatement,
  DropPropertyGraphStatement,
  EdgeEndNode,
  EdgeTableNode,
  ElementLabelNode,
  ElementTableNode,
} from "./ast-property-graph.js";
import { GraphReader } from "./graph-reader.js";

export class PropertyGraphReader extends GraphReader {
  /** `text`: the statement's. */
  read(text: string): CreatePropertyGraphStatement | DropPropertyGraphStatement {
    const { position } = this;
    const creates = this.acceptWord("create");
    if (!creates) this.expectWord("drop");
    this.at += 2;
    const statement = creates ? this.create(text, position) : this.drop(position);
    if (this.at < this.tokens.length) throw this.unexpected();
    return statement;
  }

  private drop(position: number): DropPropertyGraphStatement {
    const ifExists = this.acceptWords("if", "exists");
    const names = this.commaList(() => this.qualifiedName());
    const cascade = this.acceptWord("cascade");
    if (!cascade) this.acceptWord("restrict");
    return { kind: "drop property graph", names, ifExists, cascade, position };
  }

  private create(text: string, position: number): CreatePropertyGraphStatement {
    const ifNotExists = this.acceptWords("if", "not", "exists");
    const name = this.qualifiedName();
    const vertices =
      this.acceptWords("vertex", "tables") || this.acceptWords("node", "tables")
        ? this.parenthesized(() => this.element())
        : [];
    const edges =
      this.acceptWords("edge", "tables") || this.acceptWords("relationship", "tables")
        ? this.parenthesized(() => this.edge())
        : [];
    return { kind: "create property graph", name, ifNotExists, vertices, edges, position, text };
  }

  private element(): ElementTableNode {
    return { ...this.elementHead(), labels: this.labels() };
  }

  private elementHead(): Omit<ElementTableNode, "labels"> {
    const { position } = this;
    const table = this.qualifiedName();
    const alias = this.acceptWord("as") ? this.name() : table.path.at(-1)!;
    return { table, alias, key: this.key(), position };
  }

  private edge(): EdgeTableNode {
    const head = this.elementHead();
    this.expectWord("source");
    const source = this.edgeEnd();
    this.expectWord("destination");
    const destination = this.edgeEnd();
    return { ...head, source, destination, labels: this.labels() };
  }

  private edgeEnd(): EdgeEndNode {
    const { position } = this;
    const key = this.key();
    if (key === null) return { key, vertex: this.name(), references: null, position };
    this.expectWord("references");
    const vertex = this.name();
    return { key, vertex, references: this.isSymbol("(") ? this.columns() : null, position };
  }

  private key(): readonly ColumnNameNode[] | null {
    return this.acceptWord("key") ? this.columns() : null;
  }

  private columns(): ColumnNameNode[] {
    return this.parenthesized(() => {
      const { position } = this;
      return { name: this.name(), position };
    });
  }

  private labels(): ElementLabelNode[] {
    const { position } = this;
    if (this.isWord("properties") || this.isWord("no")) {
      return [{ name: null, properties: this.properties(), position }];
    }
    const labels: ElementLabelNode[] = [];
    for (let start = this.position; this.isWord("label") || this.isWord("default"); start = this.position) {
      const isDefault = this.acceptWord("default");
      this.expectWord("label");
      const name = isDefault ? null : this.name();
      labels.push({ name, properties: this.properties(), position: start });
    }
    return labels;
  }

  private properties(): ElementLabelNode["properties"] {
    if (this.acceptWords("no", "properties")) return "none";
    if (!this.acceptWord("properties")) return "all";
    this.acceptWord("are");
    if (this.acceptWord("all")) {
      this.expectWord("columns");
      return this.acceptWord("except") ? { except: this.columns() } : "all";
    }
    const close = this.closing(this.at);
    this.expect("(");
    const targets = this.targetsUntil(close);
    this.at++;
    return targets;
  }
}
