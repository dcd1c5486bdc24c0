/**
 * How the text of a stored expression names what statements made: functions and types stand there by their ids,
 * `pg_object_42.okay(v)`, so that it means the same whoever binds it, under any search path and beside any overload
 * (docs/decisions/stored-expressions.md). An operator is `OPERATOR(pg_object_43.===)`. No schema can have such a name:
 * pg_ is kept for the system's.
 */
const PREFIX = "pg_object_";
/** String literals of all kinds. */
const LITERAL = String.raw`(?<![\w$])[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|(?<![\w$])(\$\w*\$)[^]*?\1`;
const LITERALS = new RegExp(LITERAL, "g");
/** References, and what only looks like them: literals, and other names in quotes. */
const PARTS = new RegExp(
  String.raw`${LITERAL}|"(?:[^"]|"")*"|(?<![\w$.])(?:OPERATOR\(pg_object_(\d+)\.([-+*/<>=~!@#%^&|\`?]+)\)|pg_object_(\d+)\.("(?:[^"]|"")*"|[\w$]+))`,
  "g",
);

/** Whether a name looks like the qualifier of a reference. In a text that is kept it stands in quotes. */
export function looksLikeReference(name: string): boolean {
  return /^pg_object_\d+$/i.test(name);
}

/** The qualifier by which a stored expression names the object. */
export function referenceTo(id: number): string {
  return `${PREFIX}${id}`;
}

/** The id that such a qualifier names; null: it is a schema. */
export function referredId(qualifier: string | null): number | null {
  return qualifier?.startsWith(PREFIX) === true ? Number(qualifier.slice(PREFIX.length)) : null;
}

/** Whether a stored expression names the object. */
export function refersTo(id: number): (sql: string) => boolean {
  return (sql) => referencesIn(sql).includes(id);
}

/** Ids of all that a stored expression names. */
export function referencesIn(sql: string): readonly number[] {
  if (!sql.includes(PREFIX)) return [];
  return [...sql.matchAll(PARTS)].flatMap(([, , operator, , id = operator]) => (id === undefined ? [] : [Number(id)]));
}

/** The text with other names in place of its references. `change` gives the whole name, or operator, as SQL. */
export function replaceReferences(sql: string, change: (id: number, name: string) => string): string {
  if (!sql.includes(PREFIX)) return sql;
  return sql.replace(PARTS, (all, _tag: unknown, operator?: string, symbol?: string, id = operator, name = symbol) =>
    id === undefined ? all : change(Number(id), name!),
  );
}

/** The text with the names alone, as the statement may have written them. */
export function withoutReferences(sql: string): string {
  return replaceReferences(sql, (_id, name) => name);
}

/** The text without what stands in its literals. */
export function withoutLiterals(sql: string): string {
  return sql.replace(LITERALS, "''");
}
