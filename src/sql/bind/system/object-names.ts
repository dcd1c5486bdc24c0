/** Objects of the catalog by name, and their names by OID: what regclass, regtype and the like read and print. */
import { type CatalogView, DEFAULT_SCHEMA } from "../../../catalog/catalog-view.js";
import { type RoutineType, sameInputs } from "../../../catalog/function.js";
import { referredId, replaceReferences } from "../../../catalog/object-reference.js";
import type { OperatorDef } from "../../../catalog/operator.js";
import { parseRelationName } from "../../../catalog/relation-names.js";
import { sqlTypeOf } from "../../../catalog/type.js";
import { sqlError } from "../../../protocol/errors.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { typeFromName } from "../../../query/expr/type-spellings.js";
import { builtInTypes, displayName, idOfOid, oidOfId, typeOfModifier } from "../../../query/expr/types.js";
import type { NamedOid } from "../../../values/catalog-types.js";
import { TEXT_SEARCH_CONFIGS } from "../../../values/text-search-configs.js";
import { arrayOf, type SqlType } from "../../../values/values.js";
import { functionFacts, functionFactsByName, typeFacts, typeFactsByName } from "./builtin-facts.js";
import { catalogIndex, oidOfRelation, relationOfOid } from "./catalog-index.js";
import { OPERATOR_FACTS } from "./data/operators.js";
import { hashedOid, qualified, schemaOid, typeOid } from "./relation-facts.js";
import { nameOfRole, oidOfRole } from "./role-facts.js";
import { recordsOf } from "./shapes.js";
import type { SystemView } from "./system-view.js";

/** The OID of a relation that a text names; digits are an OID. Null when there is none. */
export function relationNamed(view: SystemView, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const { schema, name } = parseRelationName(text);
  for (const candidate of schema === null ? view.searchPath : [schema]) {
    const oid = oidOfRelation(candidate, name, view);
    if (oid !== null) return oid;
  }
  return schema === null && !view.searchPath.includes("pg_catalog") ? oidOfRelation("pg_catalog", name, view) : null;
}

/** Throws 42P01. */
export function existingRelation(view: SystemView, text: string): number {
  const oid = relationNamed(view, text);
  if (oid !== null) return oid;
  throw sqlError("42P01", `relation "${text}" does not exist`);
}

export function isRelationVisible(view: SystemView, oid: number): boolean | null {
  const relation = relationOfOid(oid, view);
  return relation === null ? null : relationNamed(view, quoteIdentifier(relation.name)) === oid;
}

/** As regclass prints: qualified unless the search path finds it. */
export function relationText(view: SystemView, oid: number): string {
  const relation = relationOfOid(oid, view);
  if (relation === null) return String(oid);
  return isRelationVisible(view, oid) ? quoteIdentifier(relation.name) : qualified(relation);
}

export function typeNamed(view: SystemView, text: string): SqlType | null {
  if (/^\d+$/.test(text)) return typeOfOid(view, Number(text));
  const [, bare, dimensions] = /^(.*?)((?:\[\d*\])*)$/.exec(text.trim())!;
  const { schema, name } = parseRelationName(bare!);
  const wrap = (type: SqlType) => (dimensions === "" ? type : arrayOf(type));
  for (const candidate of schema === null ? view.searchPath : [schema]) {
    const own = view.catalog.type(candidate, name);
    if (own !== null) return wrap(sqlTypeOf(own));
  }
  try {
    // The SQL name; "char" in quotes is another type.
    const spelled = bare!.replace(/\(.*\)$/, "");
    return wrap(typeFromName(/^char$/i.test(spelled) ? "character" : spelled.replace(/^"(.*)"$/, "$1")));
  } catch {
    return null;
  }
}

/** The OID of a type by name, one that only the catalog has included; null when there is none. */
export function typeOidNamed(view: SystemView, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const { schema, name } = parseRelationName(text.trim().replace(/(?:\[\d*\])+$/, ""));
  const dimensions = /\[\d*\]$/.test(text.trim());
  const facts = typeFactsByName().get(name);
  const isBuiltIn = facts !== undefined && schema === "pg_catalog";
  if (isBuiltIn) return dimensions ? facts.array : facts.oid;
  const type = typeNamed(view, text);
  if (type !== null) return typeOid(type);
  const relation = relationNamed(view, text);
  const own = relation === null ? null : idOfOid(relation);
  if (own !== null && own.part === 0 && hasRows(view, relation!)) return oidOfId(own.id, 2);
  return facts === undefined || schema !== null ? null : dimensions ? facts.array : facts.oid;
}

const hasRows = ({ catalog }: SystemView, oid: number) =>
  catalogIndex(catalog).tables.has(oid) || catalogIndex(catalog).views.has(oid);

let builtIn: ReadonlyMap<number, SqlType> | null = null;

export function typeOfOid({ catalog }: Pick<SystemView, "catalog">, oid: number): SqlType | null {
  const own = idOfOid(oid);
  const definition = own === null ? null : catalog.typeById(own.id);
  if (definition !== null && own!.part !== 1) {
    return own!.part === 2 ? arrayOf(sqlTypeOf(definition)) : sqlTypeOf(definition);
  }
  builtIn ??= new Map(builtInTypes().map((type) => [typeOid(type), type]));
  return builtIn.get(oid) ?? null;
}

/** format_type. `modifier` null: none. */
type Searched = Pick<SystemView, "catalog"> & Partial<Pick<SystemView, "searchPath">>;

/** As format_type shows it. Without a search path, names have the schema unless that is `public`. */
export function typeText(view: Searched, oid: number, modifier: number | null): string {
  if (oid === 0) return "-";
  const type = typeOfOid(view, oid);
  if (type !== null) return shownType(view, modifier === null ? type : typeOfModifier(type, modifier));
  const facts = typeFacts().get(oid);
  if (facts !== undefined) {
    const element = facts.category === "A" ? typeFacts().get(facts.element) : undefined;
    const plain = (name: string) => (name === "any" ? '"any"' : name);
    return element === undefined ? plain(facts.name) : `${plain(element.name)}[]`;
  }
  return rowTypeText(view, oid) ?? "???";
}

/** The name of a type, with its schema where the search path needs it. */
export function shownType(view: Searched, type: SqlType): string {
  const user = type.user ?? type.element?.user;
  if (user === undefined) return displayName(type);
  return `${namedType(view, user)}${type.user === undefined ? "[]" : ""}`;
}

/** Of a type, or of the rows of a relation. */
export function namedType(
  { catalog, searchPath = [DEFAULT_SCHEMA] }: Searched,
  type: { readonly schema: string; readonly name: string },
): string {
  const isThere = (schema: string) =>
    catalog.type(schema, type.name) !== null || oidOfRelation(schema, type.name, { catalog }) !== null;
  return searchPath.find(isThere) === type.schema ? quoteIdentifier(type.name) : qualified(type);
}

/** The type of the rows of a table or view, or of an array of them. */
function rowTypeText(view: Searched, oid: number): string | null {
  const own = idOfOid(oid);
  if (own === null || own.part < 2) return null;
  const relation = catalogIndex(view.catalog).relations.get(oidOfId(own.id));
  if (relation === undefined) return null;
  const name = namedType(view, relation);
  return own.part === 3 ? `${name}[]` : name;
}

/** Throws 3F000. */
export function schemaNamed(view: SystemView, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const name = parseRelationName(text).name;
  if (view.catalog.hasSchema(name)) return schemaOid(name, view);
  throw sqlError("3F000", `schema "${name}" does not exist`);
}

export function schemaName(view: Pick<SystemView, "catalog">, oid: number): string | null {
  return view.catalog.schemaNames().find((name) => schemaOid(name, view) === oid) ?? null;
}

// ---- functions and operators ----

const named = (view: SystemView, text: string) => {
  const { schema, name } = parseRelationName(text);
  const schemas = schema === null ? view.searchPath : [schema];
  const own = schemas.flatMap((candidate) => [...view.catalog.functionsNamed(candidate, name)]);
  const isBuiltIn = schema === null || schema === "pg_catalog";
  return { own, builtIn: isBuiltIn ? (functionFactsByName().get(name) ?? []) : [] };
};

/** Of regproc: null when no or several functions have the name. */
export function functionNamed(view: SystemView, text: string): number | "several" | null {
  if (/^\d+$/.test(text)) return Number(text);
  const { own, builtIn } = named(view, text);
  const oids = [...own.map(({ id }) => oidOfId(id)), ...builtIn.map(({ oid }) => oid)];
  return oids.length > 1 ? "several" : (oids[0] ?? null);
}

/** Of regprocedure: `name(types)`. */
export function functionWithTypes(view: SystemView, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const found = /^(.*?)\((.*)\)$/s.exec(text.trim());
  if (found === null) throw sqlError("22P02", "expected a left parenthesis");
  const types = found[2]!.trim() === "" ? [] : found[2]!.split(",").map((type) => typeOidNamed(view, type));
  const { own, builtIn } = named(view, found[1]!);
  const isSame = (args: readonly number[]) => args.length === types.length && args.every((arg, i) => arg === types[i]);
  const mine = own.find((fn) => isSame(argumentOids(view, oidOfId(fn.id))));
  return mine === undefined ? (builtIn.find(({ args }) => isSame(args))?.oid ?? null) : oidOfId(mine.id);
}

/** OIDs of the types of a function's arguments. */
export function argumentOids({ catalog }: Pick<SystemView, "catalog">, oid: number): readonly number[] {
  const own = catalogIndex(catalog).functions.get(oid);
  if (own === undefined) return functionFacts().get(oid)?.args ?? [];
  const inputs = own.parameters.filter(({ mode }) => mode !== "out" && mode !== "table");
  return inputs.map(({ type }) => routineTypeOid(type));
}

/** Of a type as functions and operators declare it. */
export function routineTypeOid({ type, relationId, polymorphic, name }: RoutineType): number {
  if (relationId !== undefined) return oidOfId(relationId, 2);
  const pseudo = polymorphic ?? name;
  return (pseudo === undefined ? undefined : typeFactsByName().get(pseudo)?.oid) ?? typeOid(type);
}

/** The function of that name that takes these types, or else the first of the name; 0: there is none. */
export function functionTaking(view: Pick<SystemView, "catalog">, text: string, types: readonly number[]): number {
  const { schema, name } = parseRelationName(text);
  const id = referredId(schema);
  if (id !== null) return oidOfId(id);
  const own = view.catalog.functions().filter((fn) => fn.name === name && (schema === null || fn.schema === schema));
  const oids = [...own.map(({ id }) => oidOfId(id)), ...(functionFactsByName().get(name) ?? []).map(({ oid }) => oid)];
  const takes = (oid: number) => argumentOids(view, oid).join() === types.join();
  return oids.find(takes) ?? oids[0] ?? 0;
}

export function functionText(view: SystemView, oid: number, withTypes = false): string {
  const own = catalogIndex(view.catalog).functions.get(oid);
  const name =
    own === undefined
      ? functionFacts().get(oid)?.name
      : view.searchPath.includes(own.schema)
        ? quoteIdentifier(own.name)
        : qualified(own);
  if (name === undefined) return String(oid);
  if (!withTypes) return name;
  return `${name}(${argumentOids(view, oid)
    .map((type) => typeText(view, type, null))
    .join(",")})`;
}

/** The text of a stored expression with the names of now, and their schemas where the search path needs them. */
export function shownNames(
  { catalog, searchPath = [DEFAULT_SCHEMA] }: Pick<SystemView, "catalog"> & Partial<Pick<SystemView, "searchPath">>,
  text: string,
): string {
  return replaceReferences(withRelationNames(text, catalog, searchPath), (id, name) => {
    const operator = catalog.operatorById(id);
    if (operator !== null) {
      const isVisible = searchPath.includes(operator.schema);
      return isVisible ? operator.name : `OPERATOR(${quoteIdentifier(operator.schema)}.${operator.name})`;
    }
    const fn = catalog.functionById(id);
    const found = fn ?? catalog.typeById(id) ?? catalog.tableById(id);
    if (found === null) return name;
    const visible = searchPath.find((schema) =>
      fn === null
        ? (catalog.type(schema, found.name) ?? catalog.table(schema, found.name)) !== null
        : catalog.functionsNamed(schema, fn.name).some((other) => sameInputs(other, fn)),
    );
    return visible === found.schema ? quoteIdentifier(found.name) : qualified(found);
  });
}

/** `'16385'::regclass`, and the same in parentheses, which are printed. */
const RELATION = /(?<!')(?:\('(\d+)'\)|'(\d+)')::regclass/g;

function withRelationNames(text: string, catalog: CatalogView, searchPath: readonly string[]): string {
  if (!text.includes("regclass")) return text;
  return text.replace(RELATION, (all, inside: string | undefined, bare: string | undefined) => {
    const found = catalogIndex(catalog).relations.get(Number(inside ?? bare));
    if (found === undefined) return all;
    const visible = searchPath.find((schema) => oidOfRelation(schema, found.name, { catalog }) !== null);
    const name = visible === found.schema ? quoteIdentifier(found.name) : qualified(found);
    return `'${name.replaceAll("'", "''")}'::regclass`;
  });
}

interface OperatorName {
  readonly name: string;
  readonly left: number;
  readonly right: number;
}

let operators: ReadonlyMap<number, OperatorName> | null = null;

function operatorNames(): ReadonlyMap<number, OperatorName> {
  operators ??= new Map(
    Array.from(recordsOf(OPERATOR_FACTS), (record) => {
      const [oid, name, , , , left, right] = record.split(",") as [string, string, ...string[]];
      return [Number(oid), { name, left: Number(left), right: Number(right) }];
    }),
  );
  return operators;
}

/** Of an operator that a statement made. */
const ownOperator = ({ name, left, right }: OperatorDef): OperatorName => {
  return { name, left: left === null ? 0 : routineTypeOid(left), right: routineTypeOid(right) };
};

function operatorText(view: SystemView, oid: number, withTypes: boolean): string {
  const own = view.catalog.operators().find(({ id }) => oidOfId(id) === oid);
  const found = own === undefined ? operatorNames().get(oid) : ownOperator(own);
  if (found === undefined) return String(oid);
  const side = (type: number) => (type === 0 ? "NONE" : typeText(view, type, null));
  const isHidden = own !== undefined && !view.searchPath.includes(own.schema);
  const name = isHidden ? `${quoteIdentifier(own.schema)}.${found.name}` : found.name;
  return withTypes ? `${name}(${side(found.left)},${side(found.right)})` : name;
}

function operatorNamed(view: SystemView, text: string): number | null {
  const found = /^(?:("?\w+"?)\.)?([^()\s\w]+)\s*(?:\((.*),(.*)\))?$/.exec(text.trim());
  if (found === null) return null;
  const [, qualifier, symbol, first, second] = found;
  const schema = qualifier === undefined ? null : parseRelationName(qualifier).name;
  const side = (type: string) => (/^\s*none\s*$/i.test(type) ? 0 : typeOidNamed(view, type));
  const builtIn = schema === null || schema === "pg_catalog" ? [...operatorNames()] : [];
  const own = view.catalog
    .operatorsNamed(symbol!)
    .filter((operator) => (schema === null ? view.searchPath.includes(operator.schema) : operator.schema === schema))
    .map((operator) => [oidOfId(operator.id), ownOperator(operator)] as const);
  const all = [...builtIn.filter(([, { name }]) => name === symbol), ...own];
  if (first === undefined) return all.length === 1 ? all[0]![0] : null;
  const [left, right] = [side(first), side(second!)];
  return all.find(([, operator]) => operator.left === left && operator.right === right)?.[0] ?? null;
}

const COLLATIONS: Readonly<Record<string, number>> = { default: 100, C: 950, POSIX: 951, ucs_basic: 12_340 };

const dictionaries = () =>
  new Map(TEXT_SEARCH_CONFIGS.map((config) => [dictionaryOid(config), dictionaryName(config)]));

export const dictionaryName = (config: string) => (config === "simple" ? config : `${config}_stem`);
export const dictionaryOid = (config: string) =>
  config === "simple" ? 3765 : hashedOid("text search dictionary", dictionaryName(config));

const keyOf = <T>(map: Iterable<readonly [number, T]>, value: T) =>
  [...map].find(([, other]) => other === value)?.[0] ?? null;

// ---- the types ----

/** What a text names; null when there is none. Throws 22P02 and 42725. */
export const OID_OF: Readonly<Record<NamedOid, (view: SystemView, text: string) => number | null>> = {
  regclass: relationNamed,
  regtype: typeOidNamed,
  regproc: (view, text) => {
    const found = functionNamed(view, text);
    if (found === "several") throw sqlError("42725", `more than one function named "${text}"`);
    return found;
  },
  regprocedure: functionWithTypes,
  regoper: operatorNamed,
  regoperator: operatorNamed,
  regrole: (view, text) => oidOfRole(view, parseRelationName(text).name),
  regnamespace: (view, text) => {
    const { name } = parseRelationName(text);
    return view.catalog.hasSchema(name) ? schemaOid(name, view) : null;
  },
  regcollation: (_view, text) => COLLATIONS[parseRelationName(text).name] ?? null,
  regdictionary: (_view, text) => keyOf(dictionaries(), parseRelationName(text).name),
};

const quotedOr = (name: string | null | undefined, oid: number) =>
  name === null || name === undefined ? String(oid) : quoteIdentifier(name);

export const NAME_OF: Readonly<Record<NamedOid, (view: SystemView, oid: number) => string>> = {
  regclass: relationText,
  regtype: (view, oid) => {
    const text = typeText(view, oid, null);
    return text === "???" ? String(oid) : text;
  },
  regproc: functionText,
  regprocedure: (view, oid) => functionText(view, oid, true),
  regoper: (view, oid) => operatorText(view, oid, false),
  regoperator: (view, oid) => operatorText(view, oid, true),
  regrole: (view, oid) => quotedOr(nameOfRole(view, oid), oid),
  regnamespace: (view, oid) => quotedOr(schemaName(view, oid), oid),
  regcollation: (_view, oid) =>
    quotedOr(
      Object.keys(COLLATIONS).find((name) => COLLATIONS[name] === oid),
      oid,
    ),
  regdictionary: (_view, oid) => quotedOr(dictionaries().get(oid), oid),
};

const WHAT: Readonly<Record<NamedOid, readonly [sqlState: string, what: string]>> = {
  regclass: ["42P01", "relation"],
  regtype: ["42704", "type"],
  regproc: ["42883", "function"],
  regprocedure: ["42883", "function"],
  regoper: ["42883", "operator"],
  regoperator: ["42883", "operator"],
  regrole: ["42704", "role"],
  regnamespace: ["3F000", "schema"],
  regcollation: ["42704", "collation"],
  regdictionary: ["42704", "text search dictionary"],
};

/** Of a cast. Digits are the OID itself, `-` is 0. Throws when nothing has the name. */
export function existingOid(type: NamedOid, view: SystemView, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  if (text === "-") return 0;
  const oid = OID_OF[type](view, text);
  if (oid !== null) return oid;
  const [state, what] = WHAT[type];
  const unquoted = type === "regclass" || type === "regtype" ? text : parseNameOrText(text);
  throw sqlError(state, `${what} "${unquoted}" does not exist`);
}

const parseNameOrText = (text: string) => (/^[\w".]+$/.test(text) ? parseRelationName(text).name : text);

/** As the type prints an OID. */
export function nameOfOid(type: NamedOid, view: SystemView, oid: number): string {
  if (oid !== 0) return NAME_OF[type](view, oid);
  return type === "regoper" || type === "regoperator" ? "0" : "-";
}
