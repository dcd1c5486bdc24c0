/** Names that PostgreSQL gives to what a statement leaves unnamed: `t_pkey`, `t_a_b_key`, `t_a_idx1`. */
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";
import { withoutReferences } from "./object-reference.js";

/** The first free name of the kind; `taken` tells which are not. Long parts are cut to fit an identifier. */
export function madeUpName(
  table: string,
  parts: readonly string[],
  suffix: string,
  taken: (name: string) => boolean,
): string {
  for (let number = 0; ; number++) {
    const end = number === 0 ? suffix : `${suffix}${number}`;
    const name = `${fitted([table, ...parts].join("_"), IDENTIFIER_BYTES_MAX - end.length - 1)}_${end}`;
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
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Schema and name as SQL text has them. */
export function parseRelationName(text: string): { readonly schema: string | null; readonly name: string } {
  const parts = [...text.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim().toLowerCase(),
  );
  return { schema: parts.length > 1 ? parts[parts.length - 2]! : null, name: parts[parts.length - 1] ?? "" };
}
