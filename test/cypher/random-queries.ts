/** Random queries of Cypher that read a small graph, seeded; their answers do not depend on the order of rows. */

export const SETUP = [
  "UNWIND range(0, 11) AS i CREATE (n:N {i: i, x: i % 3, s: CASE i % 4 WHEN 0 THEN null ELSE 's' + (i % 4) END})",
  "MATCH (n:N) WHERE n.i % 2 = 0 SET n:A",
  "MATCH (n:N) WHERE n.i % 3 = 0 SET n:B",
  "MATCH (n:N) WHERE n.i % 6 = 0 REMOVE n.x",
  "MATCH (a:N), (b:N) WHERE (a.i * 5 + b.i * 3) % 7 = 1 CREATE (a)-[:T {w: (a.i + b.i) % 4}]->(b)",
  "MATCH (a:A), (b:B) WHERE (a.i + b.i) % 5 = 0 CREATE (a)-[:U {w: a.i % 2}]->(b)",
  "MATCH (n:N {i: 4}) CREATE (n)-[:T {w: 0}]->(n), (n)-[:U]->(:A {i: 20})",
];

export class QueryGenerator {
  private nodes: string[] = [];
  private edges: string[] = [];
  private values: string[] = [];
  private named = 0;

  constructor(private readonly random: () => number) {}

  query(): string {
    const clauses: string[] = [this.match(false)];
    for (let more = this.below(3); more > 0; more--) clauses.push(this.clause());
    clauses.push(this.result());
    return clauses.join(" ");
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  private pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private clause(): string {
    switch (this.below(5)) {
      case 0:
        return this.match(false);
      case 1:
        return this.match(true);
      case 2: {
        const variable = `v${this.named++}`;
        const text = `UNWIND ${this.pick(["[0, 1, null]", "range(1, 2)", "[2, 1]", "[]"])} AS ${variable}`;
        this.values.push(variable);
        return this.values.length > 3 ? this.match(false) : text;
      }
      default:
        return this.with();
    }
  }

  private match(optional: boolean): string {
    const nodes = [...this.nodes];
    const edges = [...this.edges];
    const paths = [this.path(nodes, edges)];
    if (this.chance(0.25)) paths.push(this.path(nodes, edges));
    this.nodes = nodes;
    this.edges = edges;
    const where = this.chance(0.4) ? ` WHERE ${this.condition(2)}` : "";
    return `${optional ? "OPTIONAL " : ""}MATCH ${paths.join(", ")}${where}`;
  }

  /** Adds the variables that it defines. */
  private path(nodes: string[], edges: string[]): string {
    let text = this.node(nodes);
    for (let steps = this.pick([0, 1, 1, 1, 2]); steps > 0; steps--) text += this.edge(edges) + this.node(nodes);
    return text;
  }

  private node(nodes: string[]): string {
    if (nodes.length > 0 && this.chance(0.35)) return `(${this.pick(nodes)})`;
    const labels = this.pick(["", "", "", "", "", ":A", ":B", ":A:B", ":A|B"]);
    const properties = this.chance(0.1) ? ` {x: ${this.below(3)}}` : "";
    if (this.chance(0.3)) return `(${labels}${properties})`;
    const name = `n${this.named++}`;
    nodes.push(name);
    return `(${name}${labels}${properties})`;
  }

  private edge(edges: string[]): string {
    const types = this.pick(["", "", ":T", ":U", ":T|U"]);
    const length = this.chance(0.2) ? this.pick(["*1..2", "*0..1", "*2", "*..2 {w: 1}"]) : "";
    const properties = length === "" && this.chance(0.15) ? ` {w: ${this.below(3)}}` : "";
    let name = "";
    if (length === "" && this.chance(0.4)) {
      name = `r${this.named++}`;
      edges.push(name);
    }
    const inside = `[${name}${types}${length}${properties}]`;
    return this.pick([`-${inside}->`, `<-${inside}-`, `-${inside}-`]);
  }

  private value(): string {
    const choices = ["1", "0", "null"];
    for (const node of this.nodes) choices.push(`${node}.x`, `${node}.i`, `id(${node})`);
    for (const edge of this.edges) choices.push(`${edge}.w`);
    return this.pick([...choices, ...this.values]);
  }

  private condition(depth: number): string {
    const inner = () => this.condition(depth - 1);
    switch (this.below(depth > 0 ? 12 : 7)) {
      case 0:
        return `${this.value()} = ${this.value()}`;
      case 1:
        return `${this.value()} ${this.pick(["<", "<=", ">", "<>"])} ${this.value()}`;
      case 2:
        return `${this.value()} IN [0, 1, 4, ${this.value()}]`;
      case 3:
        return `${this.value()} IS ${this.pick(["", "NOT "])}NULL`;
      case 4:
        return this.nodes.length > 0 ? `${this.pick(this.nodes)}${this.pick([":A", ":B", ":!A"])}` : "true";
      case 5:
        return this.nodes.length > 0 ? `${this.pick(this.nodes)}.s STARTS WITH 's'` : "true";
      case 6:
        return this.nodes.length > 1 ? `${this.pick(this.nodes)} <> ${this.pick(this.nodes)}` : "true";
      case 7:
        return `NOT (${inner()})`;
      case 8:
        return `(${inner()} ${this.pick(["OR", "AND", "XOR"])} ${inner()})`;
      case 9:
        return `${inner()} AND ${inner()}`;
      case 10: {
        if (this.nodes.length === 0) return "true";
        return `(${this.pick(this.nodes)})${this.edge([])}(${this.pick(["", ":A", ":B"])})`;
      }
      default:
        return this.subquery();
    }
  }

  private subquery(): string {
    const [nodes, edges] = [this.nodes, this.edges];
    const body = this.match(false);
    this.nodes = nodes;
    this.edges = edges;
    return this.chance(0.5) ? `EXISTS { ${body} }` : `COUNT { ${body} } ${this.pick([">", "="])} ${this.below(3)}`;
  }

  private with(): string {
    const kept = this.nodes.filter(() => this.chance(0.7));
    const edges = this.edges.filter(() => this.chance(0.5));
    const values = this.values.filter(() => this.chance(0.5));
    const name = `w${this.named++}`;
    const computed = this.chance(0.4) ? this.aggregate() : this.value();
    const items = [...kept, ...edges, ...values, `${computed} AS ${name}`];
    this.nodes = kept;
    this.edges = edges;
    this.values = [...values, name];
    const where = this.chance(0.4) ? ` WHERE ${this.condition(1)}` : "";
    return `WITH ${this.chance(0.2) ? "DISTINCT " : ""}${items.join(", ")}${where}`;
  }

  private aggregate(): string {
    const value = this.value();
    return this.pick(["count(*)", `count(DISTINCT ${value})`, `min(${value})`, `max(${value})`, `sum(${value})`]);
  }

  private result(): string {
    const items: string[] = [];
    for (let more = 1 + this.below(3); more > 0; more--) items.push(`${this.value()} AS c${items.length}`);
    if (this.nodes.length > 0 && this.chance(0.3)) items.push(`${this.pick(this.nodes)} AS c${items.length}`);
    if (this.chance(0.3)) items.push(`${this.aggregate()} AS c${items.length}`);
    const distinct = this.chance(0.2) ? "DISTINCT " : "";
    const order = items.map((_item, i) => `c${i}`).join(", ");
    const limited = this.chance(0.3) ? ` ORDER BY ${order} SKIP ${this.below(3)} LIMIT ${1 + this.below(5)}` : "";
    return `RETURN ${distinct}${items.join(", ")}${limited}`;
  }
}
