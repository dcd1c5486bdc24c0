/** Whole statements: queries, indexes and constraints, EXPLAIN and PROFILE. Constructed by `parse.ts`, one per text. */

import { propertyTypeProblem } from "../../values/cypher-type.js";
import { administrationRefused, COMMAND_WORDS_MAX } from "./administration.js";
import type { Expr, LabelExpr, Query } from "./ast.js";
import { textOfGraph } from "./queries.js";
import { ShowParser } from "./show.js";
import type {
  CreateConstraintCommand,
  CreateIndexCommand,
  CreateLookupCommand,
  SchemaCommand,
  SchemaName,
  SchemaSubject,
  Statement,
  UsedGraph,
} from "./statement-ast.js";

const isEmptyConfig = (key: string, value: Expr): boolean =>
  key === "indexConfig" && value.kind === "map" && value.entries.length === 0;

const nameOfLabel = (label: LabelExpr): string | null => (label.kind === "label" ? label.name : null);

export class Parser extends ShowParser {
  statement(): Statement {
    this.skipPrefix();
    const mode = this.acceptKeyword("EXPLAIN") ? "explain" : this.acceptKeyword("PROFILE") ? "profile" : "run";
    const graph = this.used(true);
    if (graph !== null) this.begin = this.at;
    const shown = this.showCommand() ?? this.terminateCommand();
    if (shown === null) this.refuseAdministration();
    const body = shown ?? this.schemaCommand() ?? this.query(false);
    this.accept(";");
    if (this.kind !== "end") throw this.expected("the end of the statement");
    this.checkPatternsPlaced();
    if (graph !== null && body.kind === "query") this.requireUse(body, graph);
    const parameters = [...this.parameters];
    return graph === null ? { mode, body, parameters } : { mode, graph, body, parameters };
  }

  /** A part of a UNION without USE would be about another graph in Neo4j. */
  private requireUse({ parts }: Query, graph: UsedGraph): void {
    const bare = parts.slice(1).find(({ position }) => !/^USE\b/i.test(this.text.slice(position, position + 4)));
    if (bare === undefined) return;
    throw this.error(
      bare.position,
      "InvalidClauseComposition",
      `expected USE ${textOfGraph(graph)} in each part of the UNION`,
    );
  }

  /** `CYPHER 5 runtime = slotted`: which of Neo4j's versions and runtimes is meant, which is all the same here. */
  private skipPrefix(): void {
    if (this.keyword !== "CYPHER") return;
    this.at++;
    for (;;) {
      if (this.kind === "integer") this.at++;
      else if (this.kinds[this.at + 1] === "=") this.at += 3;
      else break;
    }
    this.begin = this.at;
  }

  /** null: this is a query. */
  private schemaCommand(): SchemaCommand | null {
    const position = this.position();
    const { keyword } = this;
    if (keyword === "DROP") return this.drop(position);
    if (keyword !== "CREATE" || this.kinds[this.at + 1] !== "word" || this.kinds[this.at + 2] === "=") return null;
    this.at++;
    if (this.keyword === "OR") {
      const message = "an index or a constraint is not replaced: drop it first, or write IF NOT EXISTS";
      throw this.error(this.position(), "UnexpectedSyntax", message);
    }
    if (this.acceptKeyword("CONSTRAINT")) return this.createConstraint(position);
    const isLookup = this.kinds[this.at] === "word" && this.word(this.at).toUpperCase() === "LOOKUP";
    if (isLookup) return this.createLookup(position);
    const method = this.indexMethod();
    if (!this.acceptKeyword("INDEX")) throw this.expected("a pattern, INDEX or CONSTRAINT");
    return this.createIndex(method, position);
  }

  private refuseAdministration(): void {
    const words: string[] = [];
    for (let at = this.at; words.length <= COMMAND_WORDS_MAX && this.kinds[at] === "word"; at++) {
      words.push(this.word(at).toUpperCase());
    }
    // `CREATE user = (…)-->()` names a path.
    if (this.kinds[this.at + 2] === "=") return;
    const refused = administrationRefused(words);
    if (refused !== null) throw this.error(this.position(), "UnsupportedAdministrationCommand", refused);
  }

  private indexMethod(): CreateIndexCommand["method"] {
    // Neo4j 4 calls its range indexes so.
    if (this.kinds[this.at] === "word" && this.word().toUpperCase() === "BTREE") {
      this.at++;
      return "range";
    }
    for (const method of ["RANGE", "TEXT", "POINT", "VECTOR", "FULLTEXT"] as const) {
      if (this.acceptKeyword(method)) return method.toLowerCase() as CreateIndexCommand["method"];
    }
    return "range";
  }

  /** `LOOKUP INDEX name FOR (n) ON EACH labels(n)`, `FOR ()-[r]-() ON EACH type(r)`. */
  private createLookup(position: number): CreateLookupCommand {
    this.at++;
    this.expectKeyword("INDEX");
    const named = this.nameOfNew("FOR");
    this.expectKeyword("FOR");
    const { start, steps, position: at } = this.pathSteps();
    const of = steps.length === 0 ? "node" : "relationship";
    const { variable } = steps[0]?.relationship ?? start;
    this.expectKeyword("ON");
    this.acceptKeyword("EACH");
    const read = of === "node" ? "labels" : "type";
    const call = this.name(`${read}(…)`);
    this.expect("(");
    const over = this.variable().name;
    this.expect(")");
    if (steps.length > 1 || call.toLowerCase() !== read || over !== variable?.name) {
      throw this.error(at, "UnexpectedSyntax", "expected (n) ON EACH labels(n), or ()-[r]-() ON EACH type(r)");
    }
    return { kind: "create-lookup", of, ...named, position };
  }

  private createIndex(method: CreateIndexCommand["method"], position: number): CreateIndexCommand {
    if (this.keyword === "ON" && this.kinds[this.at + 1] === ":") {
      const { subject, properties } = this.oldSubject();
      return {
        kind: "create-index",
        method,
        name: null,
        ifNotExists: false,
        subject,
        properties,
        options: null,
        position,
      };
    }
    const { name, ifNotExists } = this.nameOfNew("FOR");
    this.expectKeyword("FOR");
    const subject = this.subject(method === "fulltext");
    this.expectKeyword("ON");
    const each = this.acceptKeyword("EACH");
    // Neo4j's own examples of vector indexes leave the parentheses out.
    const isBare = !each && this.kind === "word";
    if (!isBare) this.expect(each ? "[" : "(");
    const properties = isBare ? [this.propertyOf(subject)] : this.commaList(() => this.propertyOf(subject));
    if (!isBare) this.expect(each ? "]" : ")");
    const options = this.acceptKeyword("OPTIONS") ? this.map() : null;
    return { kind: "create-index", method, name, ifNotExists, subject, properties, options, position };
  }

  /** `ON :Label(a, b)`. */
  private oldSubject(): { subject: SchemaSubject; properties: string[] } {
    this.at++;
    const position = this.position();
    this.expect(":");
    const label = this.name("a label");
    this.expect("(");
    const properties = this.commaList(() => this.name("a property's name"));
    this.expect(")");
    return { subject: { of: "node", variable: null, label, position }, properties };
  }

  private nameOfNew(next: "FOR" | "ON"): { name: SchemaName | null; ifNotExists: boolean } {
    const unnamed = this.keyword === next || this.keyword === "FOR" || this.keyword === "IF";
    const name = unnamed ? null : this.schemaName("a name");
    return { name, ifNotExists: this.acceptKeywords("IF", "NOT", "EXISTS") };
  }

  private schemaName(what: string): SchemaName {
    return this.kind === "parameter" ? this.parameter() : this.name(what);
  }

  /** `(n:Label)` or `()-[r:TYPE]-()`, or with several: `(n:A|B)`. */
  private subject(mayBeSeveral = false): SchemaSubject {
    const pattern = this.pathSteps();
    const { start, steps, position } = pattern;
    const [step] = steps;
    const labels = step === undefined ? start.labels : step.relationship.types;
    const variable = step === undefined ? start.variable : step.relationship.variable;
    const of = step === undefined ? "node" : "relationship";
    if (variable !== null && steps.length <= 1) {
      if (labels?.kind === "label") return { of, variable, label: labels.name, position };
      const names = labels?.kind === "or-labels" && mayBeSeveral ? labels.operands.map(nameOfLabel) : [];
      if (names.length > 0 && names.every((name) => name !== null)) {
        return { of, variable, label: names[0]!, labels: [...new Set(names)], position };
      }
    }
    throw this.error(position, "UnexpectedSyntax", "expected (variable:Label) or ()-[variable:TYPE]-()");
  }

  private propertyOf({ variable }: SchemaSubject): string {
    if (this.variable().name !== variable?.name) {
      throw this.error(this.position(this.at - 1), "UnexpectedSyntax", `expected a property of ${variable?.name}`);
    }
    this.expect(".");
    return this.name("a property's name");
  }

  private createConstraint(position: number): CreateConstraintCommand {
    const { name, ifNotExists } = this.nameOfNew("ON");
    const old = this.acceptKeyword("ON");
    if (!old) this.expectKeyword("FOR");
    const subject = this.subject();
    this.expectKeyword(old ? "ASSERT" : "REQUIRE");
    const exists = old && this.acceptKeyword("EXISTS");
    const several = this.accept("(");
    const properties = several ? this.commaList(() => this.propertyOf(subject)) : [this.propertyOf(subject)];
    if (several) this.expect(")");
    const common = { kind: "create-constraint", name, ifNotExists, subject, properties, position } as const;
    if (exists) return { ...common, requires: "not-null" };
    const valueType = this.requiredType(properties);
    const requires = valueType === null ? this.required() : "type";
    this.indexOptions();
    return valueType === null ? { ...common, requires } : { ...common, requires, valueType };
  }

  /** OPTIONS of a constraint name the kind of its index, of which there is one. */
  private indexOptions(): void {
    if (!this.acceptKeyword("OPTIONS")) return;
    const { entries } = this.map();
    const other = entries.find(({ key, value }) => key !== "indexProvider" && !isEmptyConfig(key, value));
    if (other === undefined) return;
    throw this.error(other.position, "UnexpectedSyntax", `a constraint has no option \`${other.key}\``);
  }

  /** `IS :: STRING`, `:: STRING`, `IS TYPED STRING`; null: something else is required. */
  private requiredType(properties: readonly string[]): string | null {
    const at = this.at;
    const isTyped = this.acceptKeyword("IS") && this.acceptKeyword("TYPED");
    const isMeant = isTyped || (this.kind === ":" && this.kinds[this.at + 1] === ":");
    if (!isMeant) {
      this.at = at;
      return null;
    }
    const position = this.position(at);
    if (!isTyped) this.at += 2;
    const valueType = this.valueType();
    if (properties.length > 1) throw this.error(position, "UnexpectedSyntax", "a type is required of one property");
    const problem = propertyTypeProblem(valueType);
    if (problem !== null) throw this.error(position, "UnexpectedSyntax", problem);
    return valueType;
  }

  private required(): CreateConstraintCommand["requires"] {
    this.expectKeyword("IS");
    if (this.acceptKeywords("NOT", "NULL")) return "not-null";
    if (!this.acceptKeyword("NODE") && !this.acceptKeyword("RELATIONSHIP")) this.acceptKeyword("REL");
    if (this.acceptKeyword("UNIQUE")) return "unique";
    if (this.acceptKeyword("KEY")) return "key";
    throw this.expected("UNIQUE, KEY, NOT NULL or a type");
  }

  private drop(position: number): SchemaCommand {
    this.at++;
    if (this.acceptKeyword("CONSTRAINT")) {
      if (this.keyword === "ON" && this.kinds[this.at + 1] === "(") {
        const { subject, properties, requires } = this.createConstraint(position);
        return {
          kind: "drop-constraint",
          name: null,
          required: { subject, properties, requires },
          ifExists: false,
          position,
        };
      }
      const name = this.schemaName("a constraint's name");
      return { kind: "drop-constraint", name, ifExists: this.acceptKeywords("IF", "EXISTS"), position };
    }
    this.expectKeyword("INDEX");
    if (this.keyword === "ON" && this.kinds[this.at + 1] === ":") {
      const { subject, properties } = this.oldSubject();
      return { kind: "drop-index", name: null, label: subject.label, properties, ifExists: false, position };
    }
    const name = this.schemaName("an index's name");
    const ifExists = this.acceptKeywords("IF", "EXISTS");
    return { kind: "drop-index", name, label: null, properties: [], ifExists, position };
  }
}
