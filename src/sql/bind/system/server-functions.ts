/**
 * Functions about the server and the sizes of relations, and whether names find objects. Sizes are estimates: the rows
 * that the optimizer expects times the width of their types.
 */
import type { SequenceDef } from "../../../catalog/sequence.js";
import type { AnalyzedTimes } from "../../../catalog/statistics.js";
import type { TableDef } from "../../../catalog/table.js";
import { sqlError } from "../../../protocol/errors.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { normalInt8 } from "../../../query/expr/number-cast.js";
import { oidOfId } from "../../../query/expr/types.js";
import { namedOidType, REGCLASS } from "../../../values/catalog-types.js";
import { encodingName, encodingNumber } from "../../../values/encodings.js";
import { Numeric } from "../../../values/numeric.js";
import { sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BOOL,
  INET,
  INT4,
  INT8,
  NAME,
  NUMERIC,
  OID,
  recordOf,
  type SqlType,
  TEXT,
  TIMESTAMPTZ,
} from "../../../values/values.js";
import { functionFacts, typeFacts } from "./builtin-facts.js";
import { catalogIndex } from "./catalog-index.js";
import { type Answer, systemFunction } from "./define-function.js";
import { isRelationVisible, OID_OF } from "./object-names.js";
import { OPERATOR_FUNCTIONS } from "./operator-functions.js";
import { LOCK_FUNCTIONS } from "./pg-sessions.js";
import { columnNumbered, type IndexFacts, mayUse, typeOid } from "./relation-facts.js";
import { shapeOfOid } from "./shapes.js";
import { type Database, databaseOid, type SystemView } from "./system-view.js";
import { canChange, canChangeColumn } from "./view-changes.js";

const PAGE_BYTES = 8192;
const ROW_BYTES = 24;
/** Of a value whose type has no fixed length. */
const VALUE_BYTES = 32;

/** Bytes of a value, as they are estimated. */
export const widthOf = (type: SqlType) => {
  const length = typeFacts().get(typeOid(type))?.length ?? -1;
  return length > 0 ? length : VALUE_BYTES;
};

const inPages = (bytes: number) => Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;

function tableBytes(view: SystemView, table: TableDef): number {
  if (table.partitionKey !== undefined) return 0;
  return inPages(view.rowsOf(table) * table.columns.reduce((sum, { type }) => sum + widthOf(type), ROW_BYTES));
}

function indexBytes(view: SystemView, { table, columnIds }: IndexFacts): number {
  if (table.partitionKey !== undefined) return 0;
  const keys = table.columns.filter(({ id }) => columnIds.includes(id));
  return PAGE_BYTES + inPages(view.rowsOf(table) * keys.reduce((sum, { type }) => sum + widthOf(type), ROW_BYTES / 2));
}

/** Null: there is no such relation. */
function relationBytes(view: SystemView, oid: number): number | null {
  const { tables, indexes, relations } = catalogIndex(view.catalog);
  const table = tables.get(oid);
  if (table !== undefined) return tableBytes(view, table);
  const index = indexes.get(oid);
  if (index !== undefined) return indexBytes(view, index);
  const own = relations.get(oid);
  if (own !== undefined) return own.kind === "S" ? PAGE_BYTES : 0;
  return shapeOfOid(oid) === null ? null : 0;
}

function indexesBytes(view: SystemView, oid: number): number {
  const all = [...catalogIndex(view.catalog).indexes.values()];
  return all.filter(({ table }) => oidOfId(table.id) === oid).reduce((sum, index) => sum + indexBytes(view, index), 0);
}

const totalBytes = (view: SystemView, oid: number) => {
  const own = relationBytes(view, oid);
  return own === null ? null : own + indexesBytes(view, oid);
};

const databaseBytes = (view: SystemView) =>
  [...catalogIndex(view.catalog).relations.keys()].reduce((sum, oid) => sum + (relationBytes(view, oid) ?? 0), 0);

/** Of another one, what it holds of its own; null: its session tells. */
const bytesOfDatabase = (view: SystemView, { name, bytes }: Database) =>
  name === view.database ? databaseBytes(view) : bytes;

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** As PostgreSQL rounds: a unit is used up to 10,240 of it. */
function prettySize(bytes: bigint): string {
  const sign = bytes < 0n ? "-" : "";
  let size = bytes < 0n ? -bytes : bytes;
  if (size < 10_240n) return `${sign}${size} bytes`;
  // One bit more than the unit, for rounding.
  size >>= 9n;
  let unit = 1;
  while (unit < UNITS.length - 1 && (size + 1n) / 2n >= 10_240n) {
    size >>= 10n;
    unit++;
  }
  return `${sign}${(size + 1n) / 2n} ${UNITS[unit]}`;
}

/** Throws 22023. */
function sizeOfText(text: string): number | bigint {
  const found = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit =
    found === null ? -1 : UNITS.findIndex((name) => name.toLowerCase() === (found[2] || "bytes").toLowerCase());
  const power = found?.[2]?.toLowerCase() === "b" ? 0 : unit;
  if (found === null) throw sqlError("22023", `invalid size: "${text}"`);
  if (power < 0) {
    throw sqlError("22023", `invalid size: "${text}"`, {
      detail: `Invalid size unit: "${found[2]}".`,
      hint: 'Valid units are "bytes", "B", "kB", "MB", "GB", "TB", and "PB".',
    });
  }
  const bytes = Numeric.parse(found[1]!).mul(Numeric.fromInteger(1024n ** BigInt(power)));
  return normalInt8(bytes.toInteger()!);
}

/** Whether an unqualified name finds the object. */
const visible =
  (schemaOf: (view: SystemView, oid: number) => string | null): Answer =>
  (view, oid: number) => {
    const schema = schemaOf(view, oid);
    return schema === null ? null : view.searchPath.includes(schema) || schema === "pg_catalog";
  };

const functionSchema = ({ catalog }: SystemView, oid: number) =>
  catalogIndex(catalog).functions.get(oid)?.schema ?? (functionFacts().has(oid) ? "pg_catalog" : null);

const typeSchema = ({ catalog }: SystemView, oid: number) =>
  typeFacts().has(oid) ? "pg_catalog" : (catalogIndex(catalog).types.get(oid)?.schema ?? "public");

const statisticsSchema = ({ catalog }: SystemView, oid: number) =>
  catalog
    .tables()
    .flatMap(({ extendedStatistics = [] }) => extendedStatistics)
    .find(({ id }) => oidOfId(id) === oid)?.schema ?? null;

const inCatalog = () => "pg_catalog";

const VISIBILITY: readonly ScalarFunction[] = [
  systemFunction("pg_table_is_visible", [OID], BOOL, isRelationVisible),
  systemFunction("pg_type_is_visible", [OID], BOOL, visible(typeSchema)),
  systemFunction("pg_function_is_visible", [OID], BOOL, visible(functionSchema)),
  systemFunction("pg_statistics_obj_is_visible", [OID], BOOL, visible(statisticsSchema)),
  ...[
    "collation",
    "conversion",
    "opclass",
    "operator",
    "opfamily",
    "ts_config",
    "ts_dict",
    "ts_parser",
    "ts_template",
  ].map((kind) => systemFunction(`pg_${kind}_is_visible`, [OID], BOOL, visible(inCatalog))),
];

const SIZES: readonly ScalarFunction[] = [
  systemFunction("pg_relation_size", [REGCLASS], INT8, relationBytes),
  systemFunction("pg_relation_size", [REGCLASS, TEXT], INT8, (view, oid: number, fork: string) =>
    fork === "main" ? relationBytes(view, oid) : 0,
  ),
  systemFunction("pg_table_size", [REGCLASS], INT8, relationBytes),
  systemFunction("pg_indexes_size", [REGCLASS], INT8, indexesBytes),
  systemFunction("pg_total_relation_size", [REGCLASS], INT8, totalBytes),
  systemFunction("pg_database_size", [NAME], INT8, (view, name: string) => {
    const found = view.databases.find((each) => each.name === name);
    if (found === undefined) throw sqlError("3D000", `database "${name}" does not exist`);
    return bytesOfDatabase(view, found);
  }),
  systemFunction("pg_database_size", [OID], INT8, (view, oid: number) => {
    const found = view.databases.find((each) => each.oid === oid);
    return found === undefined ? null : bytesOfDatabase(view, found);
  }),
  systemFunction("pg_tablespace_size", [NAME], INT8, databaseBytes),
  systemFunction("pg_tablespace_size", [OID], INT8, databaseBytes),
  systemFunction("pg_size_pretty", [INT8], TEXT, (_view, bytes: number | bigint) => prettySize(BigInt(bytes))),
  systemFunction("pg_size_pretty", [NUMERIC], TEXT, (_view, bytes: Numeric) =>
    Math.abs(bytes.toNumber()) < 10_240 ? `${bytes} bytes` : prettySize(bytes.trunc().toInteger()!),
  ),
  systemFunction("pg_size_bytes", [TEXT], INT8, (_view, text: string) => sizeOfText(text)),
];

export const startedMicros = Math.round((Date.now() - process.uptime() * 1000) * 1000);

const SERVER: readonly ScalarFunction[] = [
  systemFunction("getdatabaseencoding", [], NAME, () => "UTF8"),
  systemFunction("pg_client_encoding", [], NAME, () => "UTF8"),
  systemFunction("pg_encoding_to_char", [INT4], NAME, (_view, number: number) => encodingName(number)),
  systemFunction("pg_char_to_encoding", [NAME], INT4, (_view, name: string) => encodingNumber(name)),
  systemFunction("pg_is_in_recovery", [], BOOL, () => false),
  systemFunction("pg_is_wal_replay_paused", [], BOOL, () => false),
  systemFunction("pg_postmaster_start_time", [], TIMESTAMPTZ, () => startedMicros),
  systemFunction("pg_conf_load_time", [], TIMESTAMPTZ, () => startedMicros),
  systemFunction("pg_tablespace_location", [OID], TEXT, () => ""),
  systemFunction("pg_tablespace_databases", [OID], OID, databaseOid),
  systemFunction("pg_relation_filenode", [REGCLASS], OID, (view, oid: number) =>
    ["r", "i", "m", "S"].includes(catalogIndex(view.catalog).relations.get(oid)?.kind ?? "") ? oid : null,
  ),
  systemFunction("pg_filenode_relation", [OID, OID], REGCLASS, (view, _space: number, oid: number) =>
    catalogIndex(view.catalog).relations.has(oid) ? oid : null,
  ),
  systemFunction("pg_relation_is_publishable", [REGCLASS], BOOL, (view, oid: number) => {
    const kind = catalogIndex(view.catalog).relations.get(oid)?.kind;
    return kind === "r" || kind === "p";
  }),
  systemFunction("pg_relation_is_updatable", [REGCLASS, BOOL], INT4, (view, oid: number) => {
    const { relations, views } = catalogIndex(view.catalog);
    const kind = relations.get(oid)?.kind;
    if (kind === "r" || kind === "p") return ALL_CHANGES;
    const found = views.get(oid);
    if (found === undefined) return 0;
    return CHANGES.reduce((bits, [event, bit]) => (canChange(found, event) ? bits | bit : bits), 0);
  }),
  systemFunction("pg_column_is_updatable", [REGCLASS, INT4, BOOL], BOOL, (view, oid: number, column: number) => {
    const { tables, views } = catalogIndex(view.catalog);
    const table = tables.get(oid);
    if (table !== undefined) return columnNumbered(table, column) !== undefined;
    const found = views.get(oid);
    return found?.columns[column - 1] !== undefined && canChangeColumn(found, column - 1);
  }),
];

/** What nobody counts here. */
const COUNTERS =
  "numscans tuples_returned tuples_fetched tuples_inserted tuples_updated tuples_deleted tuples_hot_updated dead_tuples mod_since_analyze ins_since_vacuum blocks_fetched blocks_hit vacuum_count autovacuum_count analyze_count autoanalyze_count".split(
    " ",
  );

function sequenceOf({ catalog }: SystemView, oid: number): SequenceDef | undefined {
  return catalog.sequences().find(({ id }) => oidOfId(id) === oid);
}

const SEQUENCE_PARAMETERS = recordOf([
  { name: "start_value", type: INT8 },
  { name: "minimum_value", type: INT8 },
  { name: "maximum_value", type: INT8 },
  { name: "increment", type: INT8 },
  { name: "cycle_option", type: BOOL },
  { name: "cache_size", type: INT8 },
  { name: "data_type", type: OID },
]);

function lastTime(what: string, timeOf: (times: AnalyzedTimes) => number | undefined): ScalarFunction {
  return systemFunction(`pg_stat_get_last_${what}_time`, [OID], TIMESTAMPTZ, (view, oid: number) => {
    const table = catalogIndex(view.catalog).tables.get(oid);
    const analyzed = table === undefined ? null : view.statisticsOf(table);
    return analyzed === null ? null : (timeOf(analyzed) ?? null);
  });
}

const COUNTED: readonly ScalarFunction[] = [
  ...COUNTERS.map((name) => systemFunction(`pg_stat_get_${name}`, [OID], INT8, () => null)),
  // VACUUM does nothing here.
  ...["vacuum", "autovacuum"].map((name) => lastTime(name, () => undefined)),
  lastTime("analyze", ({ statementMicros }) => statementMicros),
  lastTime("autoanalyze", ({ serverMicros }) => serverMicros),
  systemFunction("pg_stat_get_live_tuples", [OID], INT8, (view, oid: number) => {
    const table = catalogIndex(view.catalog).tables.get(oid);
    return table === undefined ? null : view.rowsOf(table);
  }),
  systemFunction("pg_sequence_last_value", [REGCLASS], INT8, (view, oid: number) => {
    const sequence = sequenceOf(view, oid);
    if (sequence === undefined || !mayUse(view.rights, sequence)) return null;
    const position = view.positionOf(sequence);
    return position?.called ? position.last : null;
  }),
  systemFunction("pg_sequence_parameters", [OID], SEQUENCE_PARAMETERS, (view, oid: number) => {
    const sequence = sequenceOf(view, oid);
    if (sequence === undefined) return null;
    const { start, min, max, increment, cycle, cache, type } = sequence;
    return [start, min, max, increment, cycle, cache, typeOid(type)];
  }),
  ...LOCK_FUNCTIONS,
  ...OPERATOR_FUNCTIONS,
  systemFunction("pg_safe_snapshot_blocking_pids", [INT4], arrayOf(INT4), () => sqlArray([])),
  ...["inet_server_addr", "inet_client_addr"].map((name) => systemFunction(name, [], INET, () => null)),
  ...["inet_server_port", "inet_client_port"].map((name) => systemFunction(name, [], INT4, () => null)),
];

/** Bits of INSERT, UPDATE and DELETE. */
const CHANGES = [
  ["update", 1 << 2],
  ["insert", 1 << 3],
  ["delete", 1 << 4],
] as const;
const ALL_CHANGES = CHANGES.reduce((bits, [, bit]) => bits | bit, 0);

/** to_regclass and the like: NULL for what does not exist. */
const LOOKUPS = (Object.keys(OID_OF) as (keyof typeof OID_OF)[]).map((name) =>
  systemFunction(`to_${name}`, [TEXT], namedOidType(name)!, OID_OF[name]),
);

export const SERVER_FUNCTIONS: readonly ScalarFunction[] = [...VISIBILITY, ...SIZES, ...SERVER, ...LOOKUPS, ...COUNTED];
