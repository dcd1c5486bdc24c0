/** The relations of pg_catalog and information_schema by name, and a sequence as a relation of one row. */
import type { SequenceDef } from "../../../catalog/sequence.js";
import type { TableFunction } from "../../../query/expr/table-function.js";
import { BOOL, INT8 } from "../../../values/values.js";
import { INFORMATION_SCHEMA } from "./information-schema.js";
import { PG_PROC } from "./pg-proc.js";
import { PG_RELATIONS } from "./pg-relations.js";
import { PG_TRIGGERS } from "./pg-triggers.js";
import { PG_TYPES_AND_SERVER } from "./pg-types.js";
import { SEARCH_INDEX_RELATIONS } from "./search-index-relations.js";
import { systemRelation } from "./system-view.js";

const ALL = [
  ...PG_RELATIONS,
  ...PG_TYPES_AND_SERVER,
  PG_PROC,
  ...PG_TRIGGERS,
  ...SEARCH_INDEX_RELATIONS,
  ...INFORMATION_SCHEMA,
];

const RELATIONS: ReadonlyMap<string, TableFunction> = new Map(
  ALL.map(({ schema, name, rows }) => [`${schema}.${name}`, rows]),
);

/** A call of it gives the relation's rows; null when there is no such relation. */
export function findSystemRelation(schema: string, name: string): TableFunction | null {
  return RELATIONS.get(`${schema}.${name}`) ?? null;
}

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
