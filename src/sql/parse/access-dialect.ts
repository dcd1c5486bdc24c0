/**
 * GRANT and REVOKE on what PostgreSQL's grammar does not know: ON GRAPH g, ON ALL GRAPHS, ON COLLECTION c, ON MODEL m;
 * and ALTER GRAPH, COLLECTION and MODEL … OWNER TO. They become tables with names that no client can write. Called by
 * dialect.ts; stateless.
 */
import type { Edit } from "./source-map.js";
import { isName, isSymbol, isWord, nameOf, type Token } from "./tokens.js";

export const ACCESS_SUSPECT =
  /\bon\s+(?:graph|collection|model|all\s+graphs)\b|\balter\s+(?:graph|collection|model)\b/i;

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
  if (isWord(tokens[0], "alter")) {
    alterOwner(tokens, edits);
    return;
  }
  if (!isWord(tokens[0], "grant", "revoke")) return;
  const at = tokens.findIndex((token) => token.depth === tokens[0]!.depth && isWord(token, "on")) + 1;
  const first = tokens[at];
  if (at === 0 || first === undefined) return;
  const replace = (last: Token, names: readonly string[]) => {
    edits.push({ start: first.start, end: last.end, text: asTables(names) });
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

function alterOwner([, kind, name, verb]: readonly Token[], edits: Edit[]): void {
  const object = KINDS.find((each) => isWord(kind, each));
  if (object === undefined || !isName(name) || !isWord(verb, "owner")) return;
  edits.push({ start: kind!.start, end: name.end, text: asTables([`${MARK}${object} ${nameOf(name)}`]) });
}

function asTables(names: readonly string[]): string {
  return `TABLE ${names.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ")}`;
}

const isObject = (token: Token | undefined): boolean => isName(token) && !isWord(token, "to", "from");
