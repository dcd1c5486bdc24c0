/**
 * SHOW INDEXES, CONSTRAINTS, PROCEDURES, FUNCTIONS, DATABASES, SETTINGS, TRANSACTIONS and CURRENT USER, and TERMINATE
 * TRANSACTIONS, as queries that call the procedure with the same rows. Extended by parser.ts.
 *
 *   SHOW VECTOR INDEXES YIELD name WHERE name = $n       CALL db.indexes('VECTOR') YIELD name WHERE name = $n
 *   SHOW TRANSACTIONS YIELD … TERMINATE TRANSACTIONS …   CALL dbms.listTransactions() YIELD … CALL dbms.kill…
 *   SHOW CONSTRAINTS YIELD * ORDER BY name RETURN name   CALL db.constraints() YIELD * WITH * ORDER BY name RETURN name
 */
import type { CallClause, Clause, Expr, ProjectionClause, Query } from "./ast.js";
import { ComposedParser } from "./composed-parser.js";
import { EVERYTHING } from "./composed-queries.js";

const SETTINGS = "dbms.settings";
const TRANSACTIONS = "dbms.listTransactions";
const ENDED_TRANSACTIONS = "dbms.killTransactions";

type Shown = Pick<CallClause, "kind" | "procedure" | "args" | "position">;
type Yields = NonNullable<CallClause["yields"]>;

const LISTS: Readonly<Record<string, string>> = {
  INDEX: "db.indexes",
  INDEXES: "db.indexes",
  CONSTRAINT: "db.constraints",
  CONSTRAINTS: "db.constraints",
  PROCEDURE: "dbms.procedures",
  PROCEDURES: "dbms.procedures",
  FUNCTION: "dbms.functions",
  FUNCTIONS: "dbms.functions",
  DATABASE: "dbms.defaultDatabase",
  DATABASES: "dbms.databases",
  USER: "dbms.currentUser",
  SETTING: SETTINGS,
  SETTINGS,
  TRANSACTION: TRANSACTIONS,
  TRANSACTIONS,
};

/** Words before INDEXES and CONSTRAINTS, and the part of the type that they choose; null: all. */
const TYPES: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  "db.indexes": {
    ALL: null,
    RANGE: "RANGE",
    TEXT: "TEXT",
    POINT: "POINT",
    VECTOR: "VECTOR",
    FULLTEXT: "FULLTEXT",
    LOOKUP: "LOOKUP",
  },
  "db.constraints": {
    ALL: null,
    UNIQUE: "UNIQUENESS",
    UNIQUENESS: "UNIQUENESS",
    KEY: "KEY",
    "NODE KEY": "NODE_KEY",
    "RELATIONSHIP KEY": "RELATIONSHIP_KEY",
    "PROPERTY EXISTENCE": "EXISTENCE",
    "NODE PROPERTY EXISTENCE": "NODE_PROPERTY_EXISTENCE",
    "RELATIONSHIP PROPERTY EXISTENCE": "RELATIONSHIP_PROPERTY_EXISTENCE",
    "PROPERTY TYPE": "PROPERTY_TYPE",
    "NODE PROPERTY TYPE": "NODE_PROPERTY_TYPE",
    "RELATIONSHIP PROPERTY TYPE": "RELATIONSHIP_PROPERTY_TYPE",
    EXIST: "EXISTENCE",
    EXISTENCE: "EXISTENCE",
  },
  "dbms.procedures": { ALL: null },
  "dbms.functions": { ALL: null, "BUILT IN": null },
  "dbms.settings": {},
  "dbms.listTransactions": {},
  "dbms.databases": { ALL: null },
  "dbms.defaultDatabase": { DEFAULT: null, HOME: null },
  "dbms.currentUser": { CURRENT: null },
};

/** Of which there is no list of all. */
const NEED_A_WORD: ReadonlySet<string> = new Set(["dbms.defaultDatabase", "dbms.currentUser"]);

const FILTER_WORDS_MAX = 3;

/** The columns that YIELDs name, as they name them; of `*` all. */
function inOrder(yields: readonly Yields[]): Partial<ProjectionClause> {
  const named = yields.flatMap((each) => (each === "*" ? [] : each));
  if (yields.length === 0 || yields.includes("*")) return {};
  const items = named.map(({ variable }) => {
    const { name, position } = variable;
    return { expr: variable, alias: null, name, position };
  });
  return { star: false, items };
}

export abstract class ShowParser extends ComposedParser {
  /** `TERMINATE TRANSACTIONS 'id', …`; null: it is not there. */
  protected terminateCommand(): Query | null {
    const position = this.position();
    if (!this.isOfTransactions("TERMINATE")) return null;
    this.at += 2;
    const clauses = this.shown(this.terminated(this.namedOnes(), position));
    return this.sequence({ kind: "query", parts: [{ clauses, position }], all: false, position }, false);
  }

  private isOfTransactions(command: "SHOW" | "TERMINATE"): boolean {
    return this.wordAt(this.at) === command && /^TRANSACTIONS?$/.test(this.wordAt(this.at + 1));
  }

  private terminated(ids: Expr | null, position: number): Shown {
    if (ids === null) throw this.expected("the ids of transactions, as SHOW TRANSACTIONS gives them");
    return { kind: "call", procedure: ENDED_TRANSACTIONS, args: [ids], position };
  }

  /** SHOW or TERMINATE TRANSACTIONS right behind another one, for each of its rows; null: it is not there. */
  private nextOfTransactions({ procedure }: Shown): Shown | null {
    if (procedure !== TRANSACTIONS && procedure !== ENDED_TRANSACTIONS) return null;
    const position = this.position();
    const isEnding = this.isOfTransactions("TERMINATE");
    if (!isEnding && !this.isOfTransactions("SHOW")) return null;
    this.at += 2;
    const ids = this.namedOnes() ?? this.columnOfIds();
    if (isEnding) return this.terminated(ids, position);
    return { kind: "call", procedure: TRANSACTIONS, args: ids === null ? [] : [ids], position };
  }

  /** A column of the command before, whose rows have an id each; null: nothing is named. */
  private columnOfIds(): Expr | null {
    if (this.kind !== "word" || ["YIELD", "WHERE", ""].includes(this.wordAt(this.at))) return null;
    const id = this.expression();
    return { kind: "list", items: [id], position: id.position };
  }

  /** null: this is no SHOW, or one of what only SQL lists. */
  protected showCommand(): Query | null {
    if (this.wordAt(this.at) !== "SHOW") return null;
    const position = this.position();
    const words = Array.from({ length: FILTER_WORDS_MAX + 1 }, (_, i) => this.wordAt(this.at + 1 + i));
    const listed = words.findIndex((word) => LISTS[word] !== undefined);
    const procedure = LISTS[words[listed] ?? ""];
    const type = listed === 0 ? null : TYPES[procedure ?? ""]?.[words.slice(0, listed).join(" ")];
    if (procedure === undefined || type === undefined) return null;
    if (listed === 0 && words[0] === "DATABASE" && this.isName(this.at + 2)) return this.showDatabase(position);
    if (listed === 0 && NEED_A_WORD.has(procedure)) return null;
    this.at += listed + 2;
    if (procedure === "dbms.procedures" || procedure === "dbms.functions") this.executable();
    const named = procedure === SETTINGS || procedure === TRANSACTIONS ? this.namedOnes() : null;
    const args: Expr[] = type === null ? [] : [{ kind: "string", value: type, position }];
    if (named !== null) args.push(named);
    const clauses = this.shown({ kind: "call", procedure, args, position });
    return this.sequence({ kind: "query", parts: [{ clauses, position }], all: false, position }, false);
  }

  /** `SHOW DATABASE name`. */
  private showDatabase(position: number): Query {
    this.at += 2;
    const name: Expr = { kind: "string", value: this.dottedName("the name of a database"), position };
    const clauses = this.shown({ kind: "call", procedure: "dbms.databases", args: [name], position });
    return this.sequence({ kind: "query", parts: [{ clauses, position }], all: false, position }, false);
  }

  /** `'name', 'other'`, or a list of names; null: all. */
  private namedOnes(): Expr | null {
    if (this.kind !== "string" && this.kind !== "parameter" && this.kind !== "[") return null;
    const first = this.expression();
    if (first.kind !== "string") return first;
    const items: Expr[] = [first];
    while (this.accept(",")) items.push(this.expression());
    return { kind: "list", items, position: first.position };
  }

  /** `EXECUTABLE [BY CURRENT USER]`, which all are. */
  private executable(): void {
    if (!this.acceptWord("EXECUTABLE") || !this.acceptKeyword("BY")) return;
    this.expectWord("CURRENT");
    this.expectWord("USER");
  }

  private wordAt(at: number): string {
    return this.kinds[at] === "word" ? this.word(at).toUpperCase() : "";
  }

  /** `[YIELD …] [ORDER BY …] [SKIP …] [LIMIT …] [WHERE …] [RETURN …]`; `before`: what commands before it yield. */
  private shown(call: Shown, before: readonly Yields[] = []): Clause[] {
    const yields = this.acceptKeyword("YIELD") ? this.yields() : null;
    const between = yields === null ? null : this.ordered(call.position);
    const where = this.optionalWhere();
    const next = yields === null ? null : this.nextOfTransactions(call);
    const result = yields !== null && this.keyword === "RETURN" ? this.projection("return", this.position()) : null;
    const isHandedOn = yields !== null && this.isNextWord("NEXT");
    const isOnly = before.length === 0 && next === null;
    if (!isOnly && yields === null) throw this.expected("YIELD, as each of several commands has it");
    const standalone = isOnly && between === null && result === null && !isHandedOn;
    const given = yields ?? (where === null ? null : "*");
    const calls: CallClause = {
      ...call,
      optional: false,
      yields: given,
      where: between === null ? where : null,
      standalone,
    };
    if (standalone) return [calls];
    const lines: Clause[] = [calls, ...(between === null ? [] : [{ ...between, where }])];
    const all = yields === null ? before : [...before, yields];
    if (next !== null) return [...lines, ...this.shown(next, all)];
    return [...lines, result ?? { ...EVERYTHING, ...inOrder(all), kind: "return", position: call.position }];
  }

  /** WITH * and the order; null: none is given. */
  private ordered(position: number): ProjectionClause | null {
    const order = this.order();
    if (order.orderBy.length === 0 && order.skip === null && order.limit === null) return null;
    return { ...EVERYTHING, kind: "with", ...order, position };
  }
}
