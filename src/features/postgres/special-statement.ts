/** Statements that belong to the protocol and not to the engine: COPY, LISTEN and their like. */
import { type CopyStatement, parseCopy } from "../../sql/parse/copy.js";
import { parseSessionCommand, type SessionCommand } from "../../sql/parse/session-command.js";

export type SpecialStatement = { readonly sql: string } & (
  | { readonly kind: "copy"; readonly copy: CopyStatement }
  | { readonly kind: "command"; readonly command: SessionCommand }
);

/** Null: the engine's. Throws what is wrong with a COPY. */
export function specialOf(sql: string): SpecialStatement | null {
  const copy = parseCopy(sql);
  if (copy !== null) return { sql, kind: "copy", copy };
  const command = parseSessionCommand(sql);
  return command === null ? null : { sql, kind: "command", command };
}
