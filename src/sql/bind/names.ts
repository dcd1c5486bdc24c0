/**
 * Finds the schema that a name means: the search path for existing objects, its first schema for new ones, and the
 * session's own schema for temporary relations. Binders of every clause look names up here.
 */

import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { referredId } from "../../catalog/object-reference.js";
import { quotedIdentifier } from "../../catalog/relation-names.js";
import { isTemporarySchema, SYSTEM_SCHEMAS, TEMPORARY_ALIAS } from "../../catalog/schema.js";
import { sqlTypeOf, type TypeDef } from "../../catalog/type.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { nearestName } from "../../protocol/nearest-name.js";
import type { SqlType } from "../../values/values.js";
import type { Persistence } from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import type { BindEnvironment } from "./bound-statement.js";
import { relationOf } from "./scope.js";
import { findSystemRelation, systemRelationNames } from "./system/system-relations.js";

export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
  readonly position: number;
}

/** The schema that a qualifier means: `pg_temp` is the session's own. */
export function schemaNamed(qualifier: string, env: BindEnvironment): string {
  return qualifier === TEMPORARY_ALIAS ? (env.temporarySchema ?? TEMPORARY_ALIAS) : qualifier;
}

/** The schemas in which a name is looked up, in order. */
export function schemasFor(qualifier: string | null, env: BindEnvironment): readonly string[] {
  return qualifier === null ? env.searchPath : [schemaNamed(qualifier, env)];
}

/** What `find` gives in the first schema of the path that has it, else null. */
export function firstFound<T>(
  relation: { readonly schema: string | null; readonly name: string },
  env: BindEnvironment,
  find: (schema: string, name: string) => T | null,
): T | null {
  for (const schema of schemasFor(relation.schema, env)) {
    const found = find(schema, relation.name);
    if (found !== null) return found;
  }
  return null;
}

/** What features keep is in `public`, also where the tenant dropped that schema. */
function hasSchema(schema: string, { catalog, rights }: BindEnvironment): boolean {
  return catalog.hasSchema(schema) || (schema === DEFAULT_SCHEMA && rights?.acting.isFeature === true);
}

/** Throws 3F000 unless the schema exists. */
export function existingSchema(qualifier: string, env: BindEnvironment, position: number): string {
  const schema = schemaNamed(qualifier, env);
  if (isTemporarySchema(schema) || hasSchema(schema, env)) return schema;
  throw sqlError("3F000", `schema "${qualifier}" does not exist`, { position });
}

/**
 * Schema and name of something to be made. Throws 3F000, 42501 for a system schema, 42P16 for a misplaced temporary.
 */
export function newName(node: NameNode, env: BindEnvironment, persistence: Persistence = "permanent"): QualifiedName {
  const { schema: qualifier, name } = relationOf(node);
  const { position } = node;
  const schema = qualifier === null ? null : existingSchema(qualifier, env, position);
  if (persistence === "temporary") {
    if (schema !== null && !isTemporarySchema(schema)) {
      throw sqlError("42P16", "cannot create temporary relation in non-temporary schema", { position });
    }
    return { schema: temporarySchemaOf(env, position), name, position };
  }
  if (schema === null) return { schema: creationSchema(env, position), name, position };
  if (SYSTEM_SCHEMAS.includes(schema)) {
    throw sqlError("42501", `permission denied for schema ${schema}`, { position });
  }
  return { schema, name, position };
}

function temporarySchemaOf(env: BindEnvironment, position: number): string {
  if (env.temporarySchema !== undefined) return env.temporarySchema;
  throw sqlError("0A000", "a temporary relation needs a session, which this statement does not have", { position });
}

/** Where a new relation without a qualifier goes. Throws 3F000 when no schema of the path exists. */
export function creationSchema(env: BindEnvironment, position: number): string {
  const found = env.searchPath.find(
    (schema) => !isTemporarySchema(schema) && !SYSTEM_SCHEMAS.includes(schema) && hasSchema(schema, env),
  );
  if (found !== undefined) return found;
  throw sqlError("3F000", "no schema has been selected to create in", { position });
}

/** The definition of a type that statements made, or null. */
export function findType(path: readonly string[], env: BindEnvironment): TypeDef | null {
  const name = path[path.length - 1]!;
  const schema = path.length > 1 ? path[path.length - 2]! : null;
  const id = env.stored ? referredId(schema) : null;
  if (id !== null) return env.catalog.typeById(id);
  return firstFound({ schema, name }, env, (inSchema, typeName) => env.catalog.type(inSchema, typeName));
}

/** Throws 42704. */
export function existingType(node: NameNode, env: BindEnvironment): TypeDef {
  const found = findType(node.path, env);
  if (found !== null) return found;
  const message = `type "${node.path.join(".")}" does not exist`;
  throw sqlError("42704", message, node.position > 0 ? { position: node.position } : undefined);
}

/** The type of a name that only statements can have made; null when there is none. */
export function userTypeNamed(path: readonly string[], env: BindEnvironment): SqlType | null {
  const found = findType(path, env);
  return found === null ? null : sqlTypeOf(found);
}

/** Whether a name that is no table's is that of a system catalog, which statements can only read. */
export function isSystemRelation(node: NameNode, env: BindEnvironment): boolean {
  const { schema, name } = relationOf(node);
  return schemasFor(schema, env).some((inSchema) => findSystemRelation(inSchema, name) !== null);
}

/**
 * 42P01, with the relation that may have been meant; 42501 for a system catalog.
 * @param others names that the statement itself defines, such as those of WITH.
 */
export function missingRelation(node: NameNode, env: BindEnvironment, others: Iterable<string> = []): DbError {
  const { schema, name } = relationOf(node);
  const { catalog } = env;
  const at = node.position > 0 ? { position: node.position } : {};
  if (isSystemRelation(node, env)) {
    return sqlError("42501", `permission denied: "${name}" is a system catalog`, at);
  }
  const isOwn = (other: string) => name.startsWith("_") || !other.startsWith("_");
  const all = [...catalog.tables(), ...catalog.views()].filter((relation) => isOwn(relation.name));
  const schemas = schemasFor(schema, env);
  const visible = all.filter((relation) => schemas.includes(relation.schema)).map((relation) => relation.name);
  const elsewhere = all.find((relation) => relation.name === name && !isTemporarySchema(relation.schema));
  const ofSystem = schema === null && !name.startsWith("pg_") ? [] : schemas.flatMap(systemRelationNames);
  const near = elsewhere?.name ?? nearestName(name, [...visible, ...others, ...ofSystem]);
  const of = elsewhere?.schema ?? schema;
  const path = [...(of === null ? [] : [of]), ...(near === null ? [] : [near])].map(quotedIdentifier).join(".");
  const hint = near === null ? {} : { hint: `Did you mean ${path}?` };
  return sqlError("42P01", `relation "${node.path.join(".")}" does not exist`, { ...at, ...hint });
}
