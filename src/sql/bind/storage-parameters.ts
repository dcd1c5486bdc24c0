/**
 * Parameters of PostgreSQL's storage, in WITH (…) and SET (…) of tables and indexes. They say nothing about ours: the
 * known ones are checked, and those of tables are kept for who asks the catalog, such as pg_dump.
 */
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { OptionNode } from "../parse/ast-definitions.js";
import { switched } from "../parse/from-pg-columns.js";

type Check = (option: OptionNode) => void;

const INT_MAX = 2 ** 31 - 1;

const number =
  (isWhole: boolean, least: number, most: number): Check =>
  ({ name, value }) => {
    const text = String(value).trim();
    const what = isWhole ? "integer" : "floating point";
    if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text)) {
      throw sqlError("22023", `invalid value for ${what} option "${name}": ${value}`);
    }
    const given = isWhole ? Math.round(Number(text)) : Number(text);
    if (given >= least && given <= most) return;
    const shown = (bound: number) => (isWhole ? String(bound) : bound.toFixed(6));
    throw sqlError("22023", `value ${value} out of bounds for option "${name}"`, {
      detail: `Valid values are between "${shown(least)}" and "${shown(most)}".`,
    });
  };
const whole = (least: number, most: number) => number(true, least, most);
const real = (least: number, most: number) => number(false, least, most);

/** On, off, or left to the server. */
const threefold: Check = (option) => {
  const { name, value } = option;
  if (/^(?:auto|true|on|yes|1|false|off|no|0)$/i.test(String(value))) return;
  throw sqlError("22023", `invalid value for enum option "${name}": ${value}`, {
    detail: 'Valid values are "on", "off", and "auto".',
  });
};

/** Of tables, and of what PostgreSQL stores beside them (`toast.…`). */
const VACUUM: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["autovacuum_enabled", switched],
  ["autovacuum_freeze_max_age", whole(100_000, 2_000_000_000)],
  ["autovacuum_freeze_min_age", whole(0, 1_000_000_000)],
  ["autovacuum_freeze_table_age", whole(0, 2_000_000_000)],
  ["autovacuum_multixact_freeze_max_age", whole(10_000, 2_000_000_000)],
  ["autovacuum_multixact_freeze_min_age", whole(0, 1_000_000_000)],
  ["autovacuum_multixact_freeze_table_age", whole(0, 2_000_000_000)],
  ["autovacuum_vacuum_cost_delay", real(0, 100)],
  ["autovacuum_vacuum_cost_limit", whole(1, 10_000)],
  ["autovacuum_vacuum_insert_scale_factor", real(0, 100)],
  ["autovacuum_vacuum_insert_threshold", whole(-1, INT_MAX)],
  ["autovacuum_vacuum_scale_factor", real(0, 100)],
  ["autovacuum_vacuum_threshold", whole(0, INT_MAX)],
  ["log_autovacuum_min_duration", whole(-1, INT_MAX)],
  ["vacuum_index_cleanup", threefold],
  ["vacuum_truncate", switched],
]);

const OF_TABLES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...VACUUM,
  ["autovacuum_analyze_scale_factor", real(0, 100)],
  ["autovacuum_analyze_threshold", whole(0, INT_MAX)],
  ["fillfactor", whole(10, 100)],
  ["parallel_workers", whole(0, 1024)],
  ["toast_tuple_target", whole(128, 8160)],
  ["user_catalog_table", switched],
]);

const OF_INDEXES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["autosummarize", switched],
  ["buffering", threefold],
  ["deduplicate_items", switched],
  ["fastupdate", switched],
  ["fillfactor", whole(10, 100)],
  ["gin_pending_list_limit", whole(64, INT_MAX)],
  ["pages_per_range", whole(1, 131_072)],
]);

const NONE: ReadonlyMap<string, Check> = new Map();
const TOAST = "toast.";

function check(options: readonly OptionNode[], known: ReadonlyMap<string, Check>, toast = NONE): void {
  for (const [i, option] of options.entries()) {
    const isToast = option.name.startsWith(TOAST) && toast !== NONE;
    const name = isToast ? option.name.slice(TOAST.length) : option.name;
    const space = /^(.*)\./.exec(name)?.[1];
    if (space !== undefined) throw sqlError("22023", `unrecognized parameter namespace "${space}"`);
    if (options.findIndex((other) => other.name === option.name) < i) {
      throw sqlError("22023", `parameter "${name}" specified more than once`);
    }
    const checked = (isToast ? toast : known).get(name);
    if (checked === undefined) throw sqlError("22023", `unrecognized parameter "${name}"`);
    checked({ ...option, name });
  }
}

/** As pg_class.reloptions has them; those of `toast` have no relation here that could tell them. */
const texts = (options: readonly OptionNode[]): string[] =>
  options.flatMap(({ name, value }) => (name.startsWith(TOAST) ? [] : [`${name}=${value}`]));

/** WITH (…) of a new table. Throws 22023 for what PostgreSQL does not take either, 0A000 for OIDs. */
export function storageOfNew(options: readonly OptionNode[], isPartitioned = false): readonly string[] {
  const others = options.filter(({ name }) => name !== "oids");
  for (const oids of options) {
    if (oids.name !== "oids" || !switched(oids)) continue;
    throw sqlError("0A000", "tables declared WITH OIDS are not supported", { position: oids.position });
  }
  checkOfTable(others, isPartitioned);
  return texts(others);
}

function checkOfTable(options: readonly OptionNode[], isPartitioned: boolean): void {
  if (isPartitioned) check(options, NONE);
  else check(options, OF_TABLES, VACUUM);
}

/** The table's parameters after SET (…) or RESET (…). Throws 22023. */
export function storageAfter(options: readonly OptionNode[], isReset: boolean, table: TableDef): readonly string[] {
  if (!isReset) checkOfTable(options, table.partitionKey !== undefined);
  const kept = (table.storage ?? []).filter((text) => !options.some(({ name }) => text.startsWith(`${name}=`)));
  return isReset ? kept : [...kept, ...texts(options)];
}

/** WITH (…) of a new index. Throws 22023. */
export function storageOfIndex(options: readonly OptionNode[]): { readonly storage?: readonly string[] } {
  checkStorageOfIndex(options);
  return options.length === 0 ? {} : { storage: texts(options) };
}

/** Throws 22023. */
export function checkStorageOfIndex(options: readonly OptionNode[]): void {
  check(options, OF_INDEXES);
}
