/**
 * GRANT and REVOKE on what PostgreSQL's grammar does not know: ON GRAPH g, ON ALL GRAPHS, ON COLLECTION c, ON MODEL m.
 * They become tables with names that no client can write. Called by dialect.ts; stateless.
 */
import type { Edit } from "./source-map.js";
import { isName, isSymbol, isWord, nameOf, type Token } from "./tokens.js";

export const ACCESS_SUSPECT = /\bon\s+(?:graph|collection|model|all\s+graphs)\b/i;

const KINDS = ["graph", "collection", "model"] as const;
const MARK = "\u0001of ";
const ALL_GRAPHS = `${MARK}all graphs`;

export type MarkedName =
  | { readonly kind: (typeof KINDS)[number]; readonly name: string }
  | { readonly kind: "all graphs" };

/** Null: a name that a client wrote. */
export function markedName(name: string): MarkedName | null {
  if (!name.startsWith(MARK)) return null;
  if (name === ALL_GRAPHS) return { kind: "all graphs" };
  const kind = KINDS.find((each) => name.startsWith(`${MARK}${each} `))!;
  return { kind, name: name.slice(MARK.length + kind.length + 1) };
}

export function accessDialect({ tokens, edits }: { readonly tokens: readonly Token[]; readonly edits: Edit[] }): void {
  if (!isWord(tokens[0], "grant", "revoke")) return;
  const at = tokens.findIndex((token) => token.depth === tokens[0]!.depth && isWord(token, "on")) + 1;
  const first = tokens[at];
  if (at === 0 || first === undefined) return;
  const replace = (last: Token, names: readonly string[]) => {
    const text = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
    edits.push({ start: first.start, end: last.end, text: `TABLE ${text}` });
  };
  if (isWord(first, "all") && isWord(tokens[at + 1], "graphs")) replace(tokens[at + 1]!, [ALL_GRAPHS]);
  const kind = KINDS.find((each) => isWord(first, each));
  if (kind === undefined) return;
  const names: string[] = [];
  let next = at + 1;
  for (; isObject(tokens[next]); next += 2) {
    names.push(`${MARK}${kind} ${nameOf(tokens[next]!)}`);
    if (isSymbol(tokens[next + 1], ",")) continue;
    replace(tokens[next]!, names);
    return;
  }
}

const isObject = (token: Token | undefined): boolean => isName(token) && !isWord(token, "to", "from");
