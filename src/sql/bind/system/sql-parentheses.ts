/** Parentheses around the SQL texts of definitions. */

/** Without the one pair of parentheses around all of it, if there is one. */
export function withoutParentheses(sql: string): string {
  return isWrapped(sql) ? sql.slice(1, -1) : sql;
}

/** With one pair of parentheses around all of it. */
export const inParentheses = (sql: string): string => (isWrapped(sql) ? sql : `(${sql})`);

/** Whether the first parenthesis is closed by the last character. */
function isWrapped(sql: string): boolean {
  if (!sql.startsWith("(") || !sql.endsWith(")")) return false;
  let depth = 0;
  let quote = "";
  for (let i = 0; i < sql.length; i++) {
    const character = sql[i]!;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if (character === "(") depth++;
    else if (character === ")" && --depth === 0) return i === sql.length - 1;
  }
  return false;
}

/** `CHECK ((a > 0))` as `CHECK (a > 0)`, and an index's WHERE and keys alike. */
export function prettyDefinition(definition: string): string {
  const check = /^CHECK (\(.*?\))((?: NO INHERIT)?(?: NOT VALID)?)$/s.exec(definition);
  if (check !== null) return `CHECK (${withoutParentheses(withoutParentheses(check[1]!))})${check[2]}`;
  const where = definition.lastIndexOf(" WHERE ");
  return where < 0 ? definition : definition.slice(0, where + 7) + withoutParentheses(definition.slice(where + 7));
}

/** A call stands in an index as it is; other expressions in parentheses. */
export const indexKeyText = (sql: string): string =>
  /^(?:"[^"]+"|[a-z_][\w$]*)(?:\.(?:"[^"]+"|[a-z_][\w$]*))?\(.*\)$/is.test(sql) && isCall(sql) ? sql : `(${sql})`;

const isCall = (sql: string) => isWrapped(sql.slice(sql.indexOf("(")));
