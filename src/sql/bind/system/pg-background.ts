/**
 * What monitoring asks of PostgreSQL's processes in the background, and the functions behind the lists of extensions.
 * There are no such processes here, so none of their counts ever rises.
 */
import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "../../../catalog/extension.js";
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { recordRows } from "../../../query/expr/table-function.js";
import { arrayOf, BOOL, NAME, recordOf, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { startedMicros } from "./server-functions.js";
import { liveRelation } from "./system-view.js";

const COUNTS_OF_WRITER = [
  ...["checkpoints_timed", "checkpoints_req", "checkpoint_write_time", "checkpoint_sync_time", "buffers_checkpoint"],
  ...["buffers_clean", "maxwritten_clean", "buffers_backend", "buffers_backend_fsync", "buffers_alloc"],
];

const pgStatBgwriter = liveRelation("pg_catalog", "pg_stat_bgwriter", () => [
  { ...Object.fromEntries(COUNTS_OF_WRITER.map((count) => [count, 0])), stats_reset: startedMicros },
]);

const pgStatArchiver = liveRelation("pg_catalog", "pg_stat_archiver", () => [
  { archived_count: 0, failed_count: 0, stats_reset: startedMicros },
]);

export const PG_BACKGROUND = [pgStatBgwriter, pgStatArchiver];

function extensionFunction(
  name: string,
  columns: Readonly<Record<string, SqlType>>,
  rowOf: (extension: string, facts: { readonly version: string; readonly comment: string }) => readonly Value[],
): void {
  const returns = recordOf(Object.entries(columns).map(([column, type]) => ({ name: column, type })));
  const rows = [...AVAILABLE_EXTENSIONS].map(([extension, facts]) => rowOf(extension, facts));
  registerTableFunction(Object.freeze({ name, args: [], returns, strict: true, open: () => recordRows(rows) }));
}

extensionFunction(
  "pg_available_extensions",
  { name: NAME, default_version: TEXT, comment: TEXT },
  (extension, { version, comment }) => [extension, version, comment],
);

extensionFunction(
  "pg_available_extension_versions",
  {
    ...{ name: NAME, version: TEXT, superuser: BOOL, trusted: BOOL, relocatable: BOOL },
    ...{ schema: NAME, requires: arrayOf(NAME), comment: TEXT },
  },
  (extension, { version, comment }) => {
    const isBuiltIn = extension === BUILT_IN_EXTENSION;
    return [extension, version, false, true, !isBuiltIn, isBuiltIn ? "pg_catalog" : null, null, comment];
  },
);
