/**
 * Texts that take long to print, kept for later versions of the definitions: as long as the relations that a text is
 * about are the same objects, its names mean the same, and nothing else that a text may name has changed. A definition
 * that did not change stays the same object (catalog.ts). Used by query-printing.ts.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ViewQuery } from "../../../catalog/kept-query.js";
import { oidOfId } from "../../../query/expr/types.js";
import { catalogIndex } from "./catalog-index.js";

/** What a text depends on beside its relations. */
type Surroundings = readonly object[];

const surroundings = new WeakMap<CatalogView, Surroundings>();

function surroundingsOf(catalog: CatalogView): Surroundings {
  let found = surroundings.get(catalog);
  if (found === undefined) {
    found = [
      ...catalog.functions(),
      ...catalog.types(),
      ...catalog.operators(),
      ...catalog.casts(),
      ...catalog.extensions(),
      ...catalog.schemas(),
      ...catalog.propertyGraphs(),
    ];
    surroundings.set(catalog, found);
  }
  return found;
}

/** Stands for one version, of texts that hold for no other. */
const versions = new WeakMap<CatalogView, Surroundings>();

function versionOf(catalog: CatalogView): Surroundings {
  const version = versions.get(catalog) ?? [{}];
  versions.set(catalog, version);
  return version;
}

/** Of two lists, once: there are few versions and many texts. */
const compared = new WeakMap<Surroundings, WeakMap<Surroundings, boolean>>();

function isSame(before: Surroundings, now: Surroundings): boolean {
  if (before === now) return true;
  const known = compared.get(before) ?? new WeakMap<Surroundings, boolean>();
  compared.set(before, known);
  let same = known.get(now);
  if (same === undefined) {
    same = before.length === now.length && before.every((each, i) => each === now[i]);
    known.set(now, same);
  }
  return same;
}

interface Kept<T> {
  readonly text: T;
  /** Definitions of relations by id. */
  readonly relations: ReadonlyMap<number, object>;
  /** Their names, those of types, and in which schemas of the search path there are relations of these names. */
  readonly names: readonly string[];
  readonly found: string;
  around: Surroundings;
  /** It holds for one version of the definitions. */
  readonly isOfVersion: boolean;
}

/** Such constants name anything by its OID. */
const BY_OID = /::"?reg[a-z]+\b/;

export class KeptTexts<Owner extends object, T extends string | null> {
  private readonly texts = new WeakMap<Owner, Map<string, Kept<T>>>();

  /** `max`: texts of one definition, for different search paths and layouts. */
  constructor(private readonly max: number) {}

  /** `query`: whose relations the text is about; null: those are the owner itself. */
  get(
    owner: Owner,
    key: string,
    query: ViewQuery | null,
    catalog: CatalogView,
    path: readonly string[],
    make: () => T,
  ): T {
    const texts = this.texts.get(owner) ?? new Map<string, Kept<T>>();
    this.texts.set(owner, texts);
    const before = texts.get(key);
    if (before !== undefined && holds(before, catalog, path)) return before.text;
    const text = make();
    texts.delete(key);
    if (texts.size >= this.max) texts.clear();
    const known = query === null ? new Map<number, object>() : relationsOf(query, catalog);
    const isOfVersion = known === null || (text !== null && BY_OID.test(text));
    const relations = isOfVersion ? new Map<number, object>() : known;
    const names = isOfVersion ? [] : namesIn(query, relations, catalog, text ?? "");
    const around = isOfVersion ? versionOf(catalog) : surroundingsOf(catalog);
    texts.set(key, { text, relations, names, found: placesOf(names, path, catalog), around, isOfVersion });
    return text;
  }
}

function holds<T>(kept: Kept<T>, catalog: CatalogView, path: readonly string[]): boolean {
  if (kept.isOfVersion) return kept.around === versionOf(catalog);
  for (const [id, definition] of kept.relations) if (relationOf(id, catalog) !== definition) return false;
  const around = surroundingsOf(catalog);
  if (!isSame(kept.around, around) || placesOf(kept.names, path, catalog) !== kept.found) return false;
  kept.around = around;
  return true;
}

function relationOf(id: number, catalog: CatalogView): object | undefined {
  const { tables, views } = catalogIndex(catalog);
  return tables.get(oidOfId(id)) ?? views.get(oidOfId(id));
}

/** Also those of the views among them; null: they are not known well enough to be compared. */
function relationsOf(query: ViewQuery, catalog: CatalogView): Map<number, object> | null {
  const { views } = catalogIndex(catalog);
  const found = new Map<number, object>();
  const queries = [query];
  for (let next = queries.pop(); next !== undefined; next = queries.pop()) {
    // What names mean in a text from before is looked up anew.
    if (next.exact !== true) return null;
    for (const { id } of next.relations) {
      if (found.has(id)) continue;
      const definition = relationOf(id, catalog);
      if (definition === undefined) return null;
      found.set(id, definition);
      const view = views.get(oidOfId(id));
      if (view !== undefined) queries.push(view.query);
    }
  }
  return found;
}

function namesIn(query: ViewQuery | null, relations: ReadonlyMap<number, object>, catalog: CatalogView, text: string) {
  const names = new Set(query?.relations.map(({ name }) => name));
  for (const definition of relations.values()) names.add((definition as { readonly name: string }).name);
  for (const { name } of catalog.types()) if (text.includes(name)) names.add(name);
  return [...names];
}

function placesOf(names: readonly string[], path: readonly string[], catalog: CatalogView): string {
  const isThere = (schema: string, name: string) =>
    catalog.table(schema, name) !== null ||
    catalog.view(schema, name) !== null ||
    catalog.sequence(schema, name) !== null ||
    catalog.index(schema, name) !== null;
  return names.map((name) => path.map((schema) => (isThere(schema, name) ? "+" : "-")).join("")).join();
}
