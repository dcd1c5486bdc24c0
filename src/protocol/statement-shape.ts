/**
 * The shape of a statement: its text without the constants that its author wrote. Logs and spans show it, and a
 * statement is recognised by it.
 */

/**
 * Characters of a text that are searched for constants: a text of megabytes is more than a regular expression has stack
 * for.
 */
const SEARCHED_CHARACTERS_MAX = 64 * 1024;

/**
 * The beginning of the text with `?` for strings and numbers, and without comments. One pass from the left, because the
 * meaning of a quote depends on what came before it. In SQL a backslash escapes in E'' only, and double quotes hold
 * names; in Cypher a backslash always escapes, and double quotes hold strings, too.
 */
export function withoutConstants(text: string, language: "sql" | "cypher" = "sql"): string {
  const [tokens, name] = language === "sql" ? [SQL_TOKENS, '"'] : [CYPHER_TOKENS, "`"];
  return text.slice(0, SEARCHED_CHARACTERS_MAX).replace(tokens, (token) => {
    if (token.startsWith(name)) return token;
    return token.startsWith("--") || token.startsWith("/") ? " " : "?";
  });
}

/** By which a statement is known again, however its constants, signs, lists of constants and white space vary. */
export function shapeOf(text: string, language: "sql" | "cypher"): string {
  return withoutConstants(text, language)
    .replace(/\s+/g, " ")
    .replace(/(^|[(,=<>+*/%|[] ?)[-+] ?(?=\?)/g, "$1")
    .replace(/\?(?: ?, ?\?)+/g, "?")
    .trim();
}

const NUMBER = String.raw`(?<![\w$."])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;
const LONG_COMMENT = String.raw`\/\*[\s\S]*?(?:\*\/|$)`;

const SQL_TOKENS = new RegExp(
  [
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`--[^\n]*`,
    LONG_COMMENT,
    String.raw`\$(?<tag>[A-Za-z_]\w*|)\$[\s\S]*?(?:\$\k<tag>\$|$)`,
    String.raw`\b[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)`,
    String.raw`(?:\b[bBxX])?'(?:[^']|'')*(?:'|$)`,
    NUMBER,
  ].join("|"),
  "g",
);

const CYPHER_TOKENS = new RegExp(
  [
    "`(?:[^`]|``)*(?:`|$)",
    String.raw`\/\/[^\n]*`,
    LONG_COMMENT,
    String.raw`'(?:[^'\\]|\\[\s\S])*(?:'|$)`,
    String.raw`"(?:[^"\\]|\\[\s\S])*(?:"|$)`,
    NUMBER,
  ].join("|"),
  "g",
);
