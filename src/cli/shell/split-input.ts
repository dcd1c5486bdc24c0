/** Cuts what was typed into statements: at semicolons that stand in no string, name or comment. */

export interface SplitInput {
  /** Whole statements, without the semicolon that ends each. */
  readonly statements: readonly string[];
  /** What has no end yet. */
  readonly rest: string;
}

const TOKEN = new RegExp(
  [
    `"(?:[^"]|"")*"`,
    String.raw`--[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`\$(?<tag>[A-Za-z_]\w*|)\$[\s\S]*?\$\k<tag>\$`,
    String.raw`\b[eE]'(?:[^'\\]|''|\\[\s\S])*'`,
    `'(?:[^']|'')*'`,
    // What begins and has no end goes to the end of the text.
    String.raw`["']|\/\*|\$(?:[A-Za-z_]\w*|)\$`,
    ";",
  ].join("|"),
  "g",
);
const COMMENTS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/;

export function splitInput(text: string): SplitInput {
  const statements: string[] = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === ";") {
      const statement = text.slice(from, index).trim();
      if (!COMMENTS.test(statement)) statements.push(statement);
      from = index + 1;
    } else if (/^(?:["']|\/\*|\$\w*\$)$/.test(token) && token !== '""' && token !== "''") break;
  }
  const rest = text.slice(from);
  return { statements, rest: COMMENTS.test(rest) && !/\S/.test(rest) ? "" : rest };
}

/** Whether only white space and comments are left. */
export const isBlank = (text: string): boolean => COMMENTS.test(text);
