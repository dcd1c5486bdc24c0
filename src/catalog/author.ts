/**
 * Who changes definitions: the editor asks for every object whether its author may change it, so that no statement goes
 * around. Code of the engine itself has no author.
 */
import { sqlError } from "../protocol/errors.js";
import type { SqlType } from "../values/values.js";
import type { CatalogView } from "./catalog-view.js";
import type { FunctionDef } from "./function.js";
import { functionsOf } from "./kept-query.js";
import { isKept, isOfFeature, isOfMemories } from "./kept-tables.js";
import { permissionDenied, type Rights } from "./rights.js";
import {
  type AccessDef,
  DATABASE_ID,
  type DefaultKind,
  LANGUAGE_IDS,
  type PolicyDef,
  PUBLIC_SCHEMA_ID,
  usualGrants,
} from "./role.js";
import { isTemporarySchema } from "./schema.js";
import type { TableDef } from "./table.js";
import { type TypeDef, usesType } from "./type.js";

export interface Author {
  readonly rights: Rights;
  /** The role that owns what is made; null: it becomes common property. */
  readonly maker: number | null;
  /** The name of the database, for messages. */
  readonly database?: string;
}

interface Named {
  readonly id: number;
  readonly name: string;
}

/** Throws 42501 unless the author owns the object, or nobody does. */
export function requireOwner(author: Author | null, what: string, { id, name }: Named): void {
  if (author === null || author.rights.mayAlter(id)) return;
  throw sqlError("42501", `must be owner of ${what} ${name}`);
}

/**
 * Whether the author owns the schema of what goes: then it may drop that, whoever owns it, as in PostgreSQL. What
 * features keep, and memories, stay their users'.
 */
export function ownsSchemaOf(author: Author, object: Named & { readonly schema: string }, view: CatalogView): boolean {
  const schemaId = view.schemaId(object.schema);
  return schemaId !== null && !isKept(object) && !isOfMemories(object) && author.rights.owns(schemaId);
}

/** As `requireOwner`, of what goes. */
export function requireDropper(
  author: Author | null,
  what: string,
  object: Named & { readonly schema: string },
  view: CatalogView,
): void {
  if (author === null || ownsSchemaOf(author, object, view)) return;
  requireOwner(author, what, object);
}

/** The same of a type. */
export function requireTypeDropper(author: Author | null, type: TypeDef, view: CatalogView): void {
  const isOwned = view.accessTo(type.id) !== null;
  if (author !== null && isOwned && ownsSchemaOf(author, type, view)) return;
  requireTypeOwner(author, type, view);
}

/** As `requireOwner`, for the schema that every tenant has: where roles say who may do what, superusers own it. */
export function requireOwnerOfPublic(author: Author | null): void {
  requireOwner(author, "schema", { id: PUBLIC_SCHEMA_ID, name: "public" });
  if (author?.rights.ofRoles && !author.rights.owns(PUBLIC_SCHEMA_ID)) {
    throw sqlError("42501", "must be owner of schema public");
  }
}

/** Throws 42501 for a relation that features would take for theirs. */
export function requireOpenName(
  author: Author | null,
  relation: { readonly schema: string; readonly name: string },
): void {
  if (author === null || author.rights.opensKept || !isKept(relation)) return;
  throw sqlError("42501", `permission denied for the name "${relation.name}": a feature keeps a table of that name`, {
    hint: "Choose another name.",
  });
}

/** As `requireOwner`, for a new definition of a table. Who makes a foreign key to it needs no more than REFERENCES. */
export function requireTableOwner(author: Author | null, before: TableDef, after: TableDef, view: CatalogView): void {
  if (author === null || author.rights.mayAlter(before.id)) return;
  // What goes with its schema loses its foreign keys first.
  if (ownsSchemaOf(author, before, view) && hasOnlyLostKeys(before, after)) return;
  const { referencedBy: old = [], ...rest } = before;
  const { referencedBy: now = [], ...others } = after;
  const isOfReference = JSON.stringify(rest) === JSON.stringify(others);
  if (isOfReference && now.some((reference) => !old.includes(reference))) {
    if (!author.rights.may(before.id, "x")) throw permissionDenied("table", before.name);
    return;
  }
  const hasLostReferences = isOfReference && now.length < old.length;
  // A definition that stays the same is the owner's to give, too.
  if (!hasLostReferences) requireOwner(author, "table", before);
}

function hasOnlyLostKeys(before: TableDef, after: TableDef): boolean {
  const { foreignKeys: old = [], ...rest } = before;
  const { foreignKeys: left = [], ...others } = after;
  const names = new Set(old.map(({ name }) => name));
  return left.every(({ name }) => names.has(name)) && JSON.stringify(rest) === JSON.stringify(others);
}

/**
 * As `requireOwner`. Whoever changes a type that nobody owns has to own all tables with values of it, or with policies
 * that name it.
 */
export function requireTypeOwner(author: Author | null, type: TypeDef, view: CatalogView): void {
  if (author === null) return;
  requireOwner(author, "type", type);
  if (view.accessTo(type.id) !== null) return;
  const { rights } = author;
  const isNamed = ({ using, check }: PolicyDef): boolean =>
    [using, check].some((condition) => condition !== null && functionsOf(condition).includes(type.id));
  const other = view
    .tables()
    .find(
      (table) =>
        !rights.mayAlter(table.id) &&
        (table.columns.some((column) => usesType(column.type, type.id)) ||
          view.accessTo(table.id)?.policies?.some(isNamed) === true),
    );
  if (other !== undefined)
    throw sqlError("42501", `must be owner of table ${other.name}, which uses type ${type.name}`);
}

/** Throws 42501 unless the author may make something in the schema. */
export function requireCreate(author: Author | null, schema: string, view: CatalogView): void {
  if (author === null) return;
  if (isTemporarySchema(schema)) {
    if (author.rights.may(DATABASE_ID, "T")) return;
    throw sqlError("42501", `permission denied to create temporary tables in database "${author.database ?? ""}"`);
  }
  const id = view.schemaId(schema);
  if (id !== null && !author.rights.may(id, "C")) throw permissionDenied("schema", schema);
}

/** Throws 42501 unless the author may make schemas. */
export function requireCreateSchema(author: Author | null): void {
  if (author === null || author.rights.may(DATABASE_ID, "C")) return;
  throw permissionDenied("database", author.database ?? "");
}

/** Throws 42501 for a type that statements made, and that the author may not use in definitions. */
export function requireUse(author: Author | null, types: Iterable<SqlType>, view: CatalogView): void {
  if (author?.rights.ofRoles !== true) return;
  for (const type of types) {
    const made = (type.element ?? type).user;
    if (made === undefined || author.rights.may(made.id, "U")) continue;
    throw permissionDenied("type", view.typeById(made.id)?.name ?? type.name);
  }
}

/** Throws 42501 for a new function in a language that the author may not use, or of types that it may not use. */
export function requireWriting(author: Author | null, fn: FunctionDef, view: CatalogView): void {
  if (author === null) return;
  const { language, parameters, returns } = fn;
  if (language !== "internal" && !author.rights.may(LANGUAGE_IDS[language], "U")) {
    throw permissionDenied("language", language);
  }
  requireUse(
    author,
    [returns, ...parameters.map(({ type }) => type)].map(({ type }) => type),
    view,
  );
}

/** Who may do what with an object that is new; null: it is common property. */
export function accessOfNew(
  author: Pick<Author, "maker"> | null,
  kind: DefaultKind,
  { id: objectId, name }: Named,
  schema: string | null,
  view: CatalogView,
): AccessDef | null {
  const maker = author?.maker ?? null;
  // What features keep for all callers belongs to none of them.
  if (maker === null || (schema !== null && kind !== "function" && isOfFeature({ schema, name }))) return null;
  // What somebody remembers is for nobody else, until its owner says so by name.
  if (kind === "table" && schema !== null && isOfMemories({ schema, name })) {
    return { objectId, kind, owner: maker, grants: usualGrants(kind, maker) };
  }
  const { defaults = [] } = view.roleById(maker)!;
  const of = (where: string | null) => defaults.find((each) => each.kind === kind && each.schema === where)?.grants;
  const inSchema = schema === null ? undefined : of(schema);
  return { objectId, kind, owner: maker, grants: [...(of(null) ?? usualGrants(kind, maker)), ...(inSchema ?? [])] };
}
