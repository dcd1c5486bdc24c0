/**
 * What a feature brings: routes, functions of SQL, work in the background. Each folder beside this file declares one;
 * features.ts lists them.
 */
import type { Handlers } from "../actor/handler.js";
import { type PartitionPart, type PartitionPartKind, registerPartitionPart } from "../actor/partition-part.js";
import { type Procedure, registerProcedure } from "../cypher/bind/procedure.js";
import type { ScalarFunction } from "../query/expr/expr.js";
import { registerFunction } from "../query/expr/functions/registry.js";
import { registerTableFunction } from "../query/expr/functions/table-registry.js";
import type { TableFunction } from "../query/expr/table-function.js";
import { registerOwnRelation } from "../sql/bind/system/own-relations.js";
import { fillSystemRelation } from "../sql/bind/system/system-relations.js";
import type { JobKind } from "./jobs/job-kind.js";

export interface Feature {
  readonly name: string;
  readonly handlers?: Handlers;
  readonly functions?: readonly ScalarFunction[];
  readonly tableFunctions?: readonly TableFunction[];
  /** Relations in which users see what is their own. */
  readonly ownRelations?: readonly TableFunction[];
  /** Relations of pg_catalog whose rows it has. */
  readonly systemRelations?: readonly TableFunction[];
  readonly procedures?: readonly Procedure[];
  /** Registers who provides the capabilities that its functions need. */
  readonly provide?: () => void;
  /** What it keeps beside each partition. */
  readonly part?: PartitionPartKind<PartitionPart>;
  readonly jobs?: readonly JobKind[];
}

/** Once, when the process starts, before the first statement is bound and the first partition is made. */
export function install(feature: Feature): void {
  for (const fn of feature.functions ?? []) registerFunction(fn);
  for (const fn of feature.tableFunctions ?? []) registerTableFunction(fn);
  for (const rows of feature.ownRelations ?? []) registerOwnRelation(rows);
  for (const rows of feature.systemRelations ?? []) fillSystemRelation(rows);
  for (const procedure of feature.procedures ?? []) registerProcedure(procedure);
  feature.provide?.();
  if (feature.part !== undefined) registerPartitionPart(feature.part);
}
