/** Names that PostgreSQL gives to what a statement leaves unnamed: `t_pkey`, `t_a_b_key`, `t_a_idx1`. */
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";
import { withoutReferences } from "./object-reference.js";

/**
 * The first free name of the kind; `taken` tells which are not. Where it would be too long, the longer of the table's
 * name and the joined parts is cut, then both.
 */
export function madeUpName(
  table: string,
  parts: readonly string[],
  suffix: string,
  taken: (name: string) => boolean,
): string {
  const joined = fitted(parts.join("_"), IDENTIFIER_BYTES_MAX);
  for (let number = 0; ; number++) {
    const end = number === 0 ? suffix : `${suffix}${number}`;
    const room = IDENTIFIER_BYTES_MAX - end.length - (parts.length === 0 ? 1 : 2);
    const [first, second] = [Buffer.byteLength(table), Buffer.byteLength(joined)];
    const ofParts = Math.min(second, Math.max(room >> 1, room - first));
    const fit = [fitted(table, room - ofParts), ...(parts.length === 0 ? [] : [fitted(joined, ofParts)])];
    const name = [...fit, end].join("_");
    if (!taken(name)) return name;
  }
}

/** What stands there for an expression that an index keeps: the function that it calls. */
export function expressionPart(sql: string): string {
  return /^(\w+)\(/.exec(withoutReferences(sql))?.[1] ?? "expr";
}

/** At most the given number of UTF-8 bytes, in whole characters. */
function fitted(text: string, bytes: number): string {
  const characters = [...text];
  while (Buffer.byteLength(characters.join("")) > bytes) characters.pop();
  return characters.join("");
}

/** An identifier as it must be written in SQL text to mean exactly this name in `nextval('…')`. */
export function quotedIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Schema and name as SQL text has them. */
export function parseRelationName(text: string): { readonly schema: string | null; readonly name: string } {
  const parts = [...text.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim().toLowerCase(),
  );
  return { schema: parts.length > 1 ? parts[parts.length - 2]! : null, name: parts[parts.length - 1] ?? "" };
}
