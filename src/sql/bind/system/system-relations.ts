/** The relations of pg_catalog and information_schema by name, and a sequence as a relation of one row. */
import type { SequenceDef } from "../../../catalog/sequence.js";
import type { TableFunction } from "../../../query/expr/table-function.js";
import { BOOL, INT8 } from "../../../values/values.js";
import { BUILT_IN_OPERATORS } from "./builtin-operators.js";
import { BUILT_IN_TYPES } from "./builtin-types.js";
import { INFORMATION_SCHEMA } from "./information-schema.js";
import { INFORMATION_SCHEMA_MORE } from "./information-schema-more.js";
import { PG_AGGREGATE } from "./pg-aggregate.js";
import { PG_BACKGROUND } from "./pg-background.js";
import { PG_CLASS } from "./pg-class.js";
import { PG_DESCRIPTIONS } from "./pg-descriptions.js";
import { PG_POLICIES } from "./pg-policies.js";
import { PG_PROC } from "./pg-proc.js";
import { PG_RANGE } from "./pg-range.js";
import { PG_RELATIONS } from "./pg-relations.js";
import { PG_SERVER } from "./pg-server.js";
import { PG_SESSIONS } from "./pg-sessions.js";
import { PG_STATISTICS } from "./pg-statistics.js";
import { PG_TRIGGERS } from "./pg-triggers.js";
import { PG_TYPES } from "./pg-types.js";
import { SEARCH_INDEX_RELATIONS } from "./search-index-relations.js";
import { systemShapes } from "./shapes.js";
import { definedRelation, type SystemRelation, systemRelation } from "./system-view.js";

const FILLED: readonly SystemRelation[] = [
  ...PG_CLASS,
  ...PG_RELATIONS,
  ...PG_TYPES,
  ...PG_SERVER,
  ...PG_BACKGROUND,
  ...PG_SESSIONS,
  ...PG_POLICIES,
  ...PG_DESCRIPTIONS,
  ...PG_STATISTICS,
  PG_PROC,
  PG_AGGREGATE,
  ...BUILT_IN_TYPES,
  PG_RANGE,
  ...BUILT_IN_OPERATORS,
  ...PG_TRIGGERS,
  ...SEARCH_INDEX_RELATIONS,
  ...INFORMATION_SCHEMA,
  ...INFORMATION_SCHEMA_MORE,
];

const filled = new Map(FILLED.map((relation) => [`${relation.schema}.${relation.name}`, relation]));

/** Of things that do not exist here, such as publications: relations of PostgreSQL's shape without rows. */
const empty = [...systemShapes().values()].filter(({ schema, name }) => !filled.has(`${schema}.${name}`));

const ALL = [...FILLED, ...empty.map(({ schema, name }) => definedRelation(schema, name, () => []))];

const RELATIONS = new Map<string, TableFunction>(ALL.map(({ schema, name, rows }) => [`${schema}.${name}`, rows]));

/** A call of it gives the relation's rows; null when there is no such relation. */
export function findSystemRelation(schema: string, name: string): TableFunction | null {
  return RELATIONS.get(`${schema}.${name}`) ?? null;
}

const identities = new Map(
  ALL.flatMap(({ schema, name, rows }) => {
    const oid = systemShapes().get(`${schema}.${name}`)?.oid;
    return oid === undefined ? [] : [[rows, { schema, oid }]];
  }),
);

/** A feature has the rows of a relation of pg_catalog that is empty without it. Once, when the process starts. */
export function fillSystemRelation(rows: TableFunction): void {
  const { schema, oid } = systemShapes().get(`pg_catalog.${rows.name}`)!;
  RELATIONS.set(`${schema}.${rows.name}`, rows);
  identities.set(rows, { schema, oid });
}

/** Of the relation whose rows these are; null for a sequence, or what PostgreSQL does not have. */
export const systemRelationIdentity = (rows: TableFunction): { readonly schema: string; readonly oid: number } | null =>
  identities.get(rows) ?? null;

export function systemRelationNames(schema: string): readonly string[] {
  return ALL.filter((relation) => relation.schema === schema).map(({ name }) => name);
}

/** `SELECT * FROM sequence`. */
export function sequenceRows(sequence: SequenceDef): TableFunction {
  return systemRelation(
    "pg_catalog",
    sequence.name,
    { last_value: INT8, log_cnt: INT8, is_called: BOOL },
    ({ positionOf }) => {
      const { last, called } = positionOf(sequence);
      return [{ last_value: last, log_cnt: called ? 32 : 0, is_called: called }];
    },
  ).rows;
}
