/** Parentheses around the SQL texts of definitions. */

/** Without the one pair of parentheses around all of it, if there is one. */
export function withoutParentheses(sql: string): string {
  return isWrapped(sql) ? sql.slice(1, -1) : sql;
}

/** With one pair of parentheses around all of it. */
export const inParentheses = (sql: string): string => (isWrapped(sql) ? sql : `(${sql})`);

/** Whether the first parenthesis is closed by the last character. */
function isWrapped(sql: string): boolean {
  return sql.startsWith("(") && closingAt(sql, 0) === sql.length - 1;
}

/** Where the parenthesis at the place is closed; -1: nowhere. `seen`: told of each comma that is in no other one. */
function closingAt(sql: string, from: number, seen: (comma: number) => void = () => undefined): number {
  let depth = 0;
  let quote = "";
  for (let i = from; i < sql.length; i++) {
    const character = sql[i]!;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if (character === "(") depth++;
    else if (character === ")" && --depth === 0) return i;
    else if (character === "," && depth === 1) seen(i);
  }
  return -1;
}

/** `CHECK ((a > 0))` as `CHECK (a > 0)`, and an index's WHERE and keys alike. */
export function prettyDefinition(definition: string): string {
  const check = /^CHECK (\(.*?\))((?: NO INHERIT)?(?: NOT VALID)?)$/s.exec(definition);
  if (check !== null) return `CHECK (${withoutParentheses(withoutParentheses(check[1]!))})${check[2]}`;
  const index = withPlainKeys(definition);
  const where = index.lastIndexOf(" WHERE ");
  return where < 0 ? index : index.slice(0, where + 7) + withoutParentheses(index.slice(where + 7));
}

/** The keys `((a || b))` of an index as `(a || b)`. */
function withPlainKeys(definition: string): string {
  const method = /^CREATE (?:UNIQUE )?INDEX .*? USING \w+ (?=\()/s.exec(definition);
  if (method === null) return definition;
  const open = method[0].length;
  const ends: number[] = [];
  const close = closingAt(definition, open, (comma) => ends.push(comma));
  const keys = [...ends, close].map((end, i) => plainKey(definition.slice((ends[i - 1] ?? open) + 1, end).trim()));
  return `${definition.slice(0, open + 1)}${keys.join(", ")}${definition.slice(close)}`;
}

function plainKey(key: string): string {
  if (!key.startsWith("((")) return key;
  const close = closingAt(key, 0);
  const inside = key.slice(1, close);
  return isWrapped(inside) ? inside + key.slice(close + 1) : key;
}

/** A call stands in an index as it is; other expressions in parentheses. */
export const indexKeyText = (sql: string): string =>
  /^(?:"[^"]+"|[a-z_][\w$]*)(?:\.(?:"[^"]+"|[a-z_][\w$]*))?\(.*\)$/is.test(sql) && isCall(sql) ? sql : `(${sql})`;

const isCall = (sql: string) => isWrapped(sql.slice(sql.indexOf("(")));
