/** Marks files of a folder to be read again. Called by the handlers; holds no state. */
import type { RunStatement } from "../documents/document-session.js";
import { FILES } from "./file-tables.js";

/** Files of a folder that must be read again. */
export type FilesConcerned =
  | { readonly kind: "all" }
  /** By its id or its path. */
  | { readonly kind: "one"; readonly file: string }
  /**
   * Those that were read, of these kinds (null: of any) or set aside with one of these errors; and those that are to
   * be.
   */
  | { readonly kind: "read"; readonly kinds: readonly string[] | null; readonly errors: readonly string[] };

function concernedBy(concerned: FilesConcerned): { readonly sql: string; readonly params: readonly unknown[] } {
  if (concerned.kind === "all") return { sql: "", params: [] };
  if (concerned.kind === "one") return { sql: " AND (id = $3::text OR path = $3::text)", params: [concerned.file] };
  const { kinds, errors } = concerned;
  const read = kinds === null ? "status = 'indexed'" : "status = 'indexed' AND kind = ANY($4::text[])";
  return {
    sql: ` AND (${read} OR status = 'failed' AND error_code = ANY($3::text[]) OR status = 'pending')`,
    params: kinds === null ? [errors] : [errors, kinds],
  };
}

/** Marks files to be read again, whatever is known of them. Returns how many. */
export async function readAnew(
  run: RunStatement,
  folderId: string,
  concerned: FilesConcerned,
  now: string,
): Promise<number> {
  const which = concernedBy(concerned);
  const { affected } = await run({
    own: true,
    sql: `UPDATE ${FILES} SET status = 'pending', hash = NULL, revision = revision + 1, attempts = 0, due_at = $2::timestamptz
          WHERE folder_id = $1::text AND status <> 'gone'${which.sql}`,
    params: [folderId, now, ...which.params],
  });
  return affected;
}
