/**
 * Functions about the server's files and its log: they are the operator's, so a tenant's users get the refusal that
 * PostgreSQL gives to all but superusers. Monitoring tools go on from it.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { BOOL, BYTEA, INT8, OID, recordOf, type SqlType, TEXT, TIMESTAMPTZ } from "../../../values/values.js";
import { systemFunction } from "./define-function.js";

function refuse(name: string): never {
  throw sqlError("42501", `permission denied for function ${name}`, {
    hint: "The server's files are its operator's. GET /metrics has the figures of its log and its storage.",
  });
}

const FILES = recordOf([
  { name: "name", type: TEXT },
  { name: "size", type: INT8 },
  { name: "modification", type: TIMESTAMPTZ },
]);

const NAMES = recordOf([{ name: "pg_ls_dir", type: TEXT }]);

const LISTS: readonly (readonly [name: string, returns: SqlType, ...args: SqlType[]])[] = [
  ["pg_ls_archive_statusdir", FILES],
  ["pg_ls_dir", NAMES, TEXT],
  ["pg_ls_dir", NAMES, TEXT, BOOL, BOOL],
  ["pg_ls_logdir", FILES],
  ["pg_ls_tmpdir", FILES],
  ["pg_ls_tmpdir", FILES, OID],
  ["pg_ls_waldir", FILES],
];

for (const [name, returns, ...args] of LISTS) {
  registerTableFunction(Object.freeze({ name, args, returns, strict: true, open: () => refuse(name) }));
}

const read = (name: string, returns: SqlType, ...args: SqlType[]): ScalarFunction =>
  systemFunction(name, args, returns, () => refuse(name));

export const OPERATOR_FUNCTIONS: readonly ScalarFunction[] = [
  read("pg_read_file", TEXT, TEXT),
  read("pg_read_file", TEXT, TEXT, INT8, INT8),
  read("pg_read_binary_file", BYTEA, TEXT),
  read("pg_read_binary_file", BYTEA, TEXT, INT8, INT8),
];
