/** Statements as Cypher text: `parseCypher(printCypher(tree))` is the same tree but for positions and column names. */
import type {
  CallClause,
  CallTransactions,
  Clause,
  MatchClause,
  PathPattern,
  ProjectionClause,
  Query,
  RemoveItem,
  SetItem,
  YieldItem,
} from "./ast.js";
import { ExprPrinter, printDotted, printName, printVariable } from "./print-expr.js";
import type { SchemaCommand, SchemaName, SchemaSubject, Statement } from "./statement-ast.js";

export function printCypher({ mode, graph, body }: Statement): string {
  const used = typeof graph === "object" ? `graph.byName($${quoted(graph.parameter)})` : quoted(graph ?? "");
  const use = graph === undefined ? "" : `USE ${used} `;
  const prefix = mode === "run" ? "" : `${mode.toUpperCase()} `;
  return prefix + (body.kind === "query" ? printQuery(body, use) : use + printSchema(body));
}

const printer = new ExprPrinter((query) => printQuery(query));

/** `use`: before each part. */
function printQuery({ parts, all }: Query, use = ""): string {
  const texts = parts.map(
    ({ clauses, finish }) => use + clauses.map(printClause).join(" ") + (finish ? " FINISH" : ""),
  );
  return texts.join(all ? " UNION ALL " : " UNION ");
}

const paths = (patterns: readonly PathPattern[]): string => patterns.map((path) => printer.path(path)).join(", ");

function printSearch({ search }: MatchClause): string {
  if (search === undefined) return "";
  const { call, within } = search;
  const [index, limit, query] = call.args!.map((arg, i) =>
    i === 0 && arg.kind === "string" ? printVariable(arg.value) : printer.expr(arg),
  );
  const [found, score] = (call.yields as readonly YieldItem[]).map(({ variable }) => printVariable(variable.name));
  const searched = `VECTOR INDEX ${index} FOR ${query}${printer.where(within)} LIMIT ${limit}`;
  return ` SEARCH ${found} IN (${searched})${score === undefined ? "" : ` SCORE AS ${score}`}`;
}

function printClause(clause: Clause): string {
  switch (clause.kind) {
    case "match":
      return `${clause.optional ? "OPTIONAL " : ""}MATCH ${clause.repeatable ? "REPEATABLE ELEMENTS " : ""}${paths(clause.patterns)}${printSearch(clause)}${printer.where(clause.where)}`;
    case "unwind":
      return `UNWIND ${printer.expr(clause.list)} AS ${printVariable(clause.variable.name)}`;
    case "call":
      return printCall(clause);
    case "subquery-call": {
      const { imports, query } = clause;
      const names = imports === "*" ? "*" : imports.map(({ name }) => printVariable(name)).join(", ");
      return `${clause.optional ? "OPTIONAL " : ""}CALL (${names}) {${printQuery(query)}}${printTransactions(clause.transactions)}`;
    }
    case "with":
    case "return":
      return printProjection(clause);
    case "create":
      return `CREATE ${paths(clause.patterns)}`;
    case "merge": {
      const onCreate =
        clause.onCreate.length === 0 ? "" : ` ON CREATE SET ${clause.onCreate.map(printItem).join(", ")}`;
      const onMatch = clause.onMatch.length === 0 ? "" : ` ON MATCH SET ${clause.onMatch.map(printItem).join(", ")}`;
      return `MERGE ${printer.path(clause.pattern)}${onCreate}${onMatch}`;
    }
    case "set":
    case "remove":
      return `${clause.kind.toUpperCase()} ${clause.items.map(printItem).join(", ")}`;
    case "delete": {
      const targets = clause.targets.map((target) => printer.expr(target)).join(", ");
      return `${clause.detach ? "DETACH " : ""}DELETE ${targets}`;
    }
    case "foreach": {
      const element = `${printVariable(clause.variable.name)} IN ${printer.expr(clause.list)}`;
      return `FOREACH (${element} | ${clause.clauses.map(printClause).join(" ")})`;
    }
  }
}

function printTransactions(transactions: CallTransactions | null): string {
  if (transactions === null) return "";
  const { rows, onError, retrySeconds, status } = transactions;
  const of = rows === null ? "" : ` OF ${printer.expr(rows)} ROWS`;
  const report = status === null ? "" : ` REPORT STATUS AS ${printVariable(status.name)}`;
  const retry = retrySeconds === null ? "" : `RETRY FOR ${printer.expr(retrySeconds)} SECONDS THEN `;
  return ` IN TRANSACTIONS${of} ON ERROR ${retry}${onError.toUpperCase()}${report}`;
}

/** Clauses one after the other. */
export const printClauses = (clauses: readonly Clause[]): string => clauses.map(printClause).join(" ");

function printCall({ procedure, args, yields, where }: CallClause): string {
  const list = args === null ? "" : `(${args.map((arg) => printer.expr(arg)).join(", ")})`;
  const call = `CALL ${printDotted(procedure)}${list}`;
  if (yields === null) return call;
  if (yields === "*") return `${call} YIELD *`;
  const names = yields.map(({ field, variable }) => `${printName(field)} AS ${printVariable(variable.name)}`);
  const fields = names.length === 0 ? "-" : names.join(", ");
  return `${call} YIELD ${fields}${printer.where(where)}`;
}

function printProjection({ kind, distinct, star, items, orderBy, skip, limit, where }: ProjectionClause): string {
  const columns = items.map(({ expr, alias }) => {
    return `${printer.expr(expr)}${alias === null ? "" : ` AS ${printVariable(alias.name)}`}`;
  });
  const keys = orderBy.map(({ expr, descending }) => `${printer.expr(expr)}${descending ? " DESC" : ""}`);
  return [
    `${kind.toUpperCase()}${distinct ? " DISTINCT" : ""} ${[...(star ? ["*"] : []), ...columns].join(", ")}`,
    keys.length === 0 ? "" : ` ORDER BY ${keys.join(", ")}`,
    skip === null ? "" : ` SKIP ${printer.expr(skip)}`,
    limit === null ? "" : ` LIMIT ${printer.expr(limit)}`,
    printer.where(where),
  ].join("");
}

function printItem(item: SetItem | RemoveItem): string {
  switch (item.kind) {
    case "set-property":
      return `${printer.expr(item.target)} = ${printer.expr(item.value)}`;
    case "remove-property":
      return printer.expr(item.target);
    case "replace":
      return `${printVariable(item.variable.name)} = ${printer.expr(item.value)}`;
    case "add":
      return `${printVariable(item.variable.name)} += ${printer.expr(item.value)}`;
    case "labels": {
      const labels = [...item.labels.map(printName), ...item.dynamic.map((label) => printer.labels(label))];
      return `${printVariable(item.variable.name)}:${labels.join(":")}`;
    }
  }
}

function printSchema(command: SchemaCommand): string {
  switch (command.kind) {
    case "create-lookup": {
      const { of, name, ifNotExists } = command;
      const over = of === "node" ? "(n) ON EACH labels(n)" : "()-[r]-() ON EACH type(r)";
      return `CREATE LOOKUP INDEX ${newName(name, ifNotExists)}FOR ${over}`;
    }
    case "create-index": {
      const { method, name, ifNotExists, subject, properties, options } = command;
      if (subject.variable === null)
        return `CREATE ${method.toUpperCase()} INDEX ON ${oldSubject(subject.label, properties)}`;
      const variable = printVariable(subject.variable.name);
      const columns = properties.map((property) => `${variable}.${printName(property)}`).join(", ");
      const tail = options === null ? "" : ` OPTIONS ${printer.expr(options)}`;
      return `CREATE ${method.toUpperCase()} INDEX ${newName(name, ifNotExists)}FOR ${printSubject(subject)} ON (${columns})${tail}`;
    }
    case "create-constraint": {
      const { name, ifNotExists, subject, properties, requires, valueType } = command;
      const columns = printProperties(subject, properties);
      const rule = { unique: "UNIQUE", key: "KEY", "not-null": "NOT NULL", type: `:: ${valueType}` }[requires];
      return `CREATE CONSTRAINT ${newName(name, ifNotExists)}FOR ${printSubject(subject)} REQUIRE (${columns}) IS ${rule}`;
    }
    case "drop-index":
      if (command.name === null) return `DROP INDEX ON ${oldSubject(command.label!, command.properties)}`;
      return `DROP INDEX ${schemaName(command.name)}${command.ifExists ? " IF EXISTS" : ""}`;
    case "drop-constraint":
      if (command.name === null) {
        const { subject, properties, requires } = command.required!;
        const list = printProperties(subject, properties);
        const rule = requires === "not-null" ? `exists(${list})` : `(${list}) IS ${requires.toUpperCase()}`;
        return `DROP CONSTRAINT ON ${printSubject(subject)} ASSERT ${rule}`;
      }
      return `DROP CONSTRAINT ${schemaName(command.name)}${command.ifExists ? " IF EXISTS" : ""}`;
  }
}

const quoted = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

const schemaName = (name: SchemaName): string => (typeof name === "string" ? quoted(name) : printer.expr(name));

const newName = (name: SchemaName | null, ifNotExists: boolean): string =>
  `${name === null ? "" : `${schemaName(name)} `}${ifNotExists ? "IF NOT EXISTS " : ""}`;

const oldSubject = (label: string, properties: readonly string[]): string =>
  `:${printName(label)}(${properties.map(printName).join(", ")})`;

function printProperties({ variable }: SchemaSubject, properties: readonly string[]): string {
  return properties.map((property) => `${printVariable(variable!.name)}.${printName(property)}`).join(", ");
}

function printSubject({ of, variable, label, labels = [label] }: SchemaSubject): string {
  const inside = `${printVariable(variable!.name)}:${labels.map(printName).join("|")}`;
  return of === "node" ? `(${inside})` : `()-[${inside}]-()`;
}
