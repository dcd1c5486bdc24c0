/**
 * Fields that clients send and that mean nothing here (`Unused` in the schemas), wherever they stand: beside the
 * others, in objects and lists within them, in query strings. They are taken out before a handler sees the value, and
 * noted. Used by validate.ts.
 */
import type { TObject, TSchema } from "typebox";
import { UNUSED } from "../protocol/endpoints/schemas.js";

/** A value without such fields, and a note for each name that was there; the value itself where there was none. */
export type TakeOut = <T>(value: T, notes: Set<string>) => T;

/** What of a schema is unused, and where else to look. */
interface Place {
  readonly unused: ReadonlyMap<string, string>;
  readonly within: ReadonlyMap<string, Place>;
  readonly items: Place | null;
}

interface Parts extends TSchema {
  readonly [UNUSED]?: string;
  readonly properties?: Readonly<Record<string, Parts>>;
  readonly items?: Parts;
  readonly anyOf?: readonly Parts[];
}

/** Null: the schema has none. `what`: "field" or "query parameter". */
export function unusedFields(schema: TObject, what: string): TakeOut | null {
  const place = placeOf(schema as Parts);
  return place === null ? null : (value, notes) => taken(place, value, "", what, notes) as typeof value;
}

function placeOf(schema: Parts): Place | null {
  const unused = new Map<string, string>();
  const within = new Map<string, Place>();
  let items: Place | null = null;
  for (const one of schema.anyOf ?? [schema]) {
    for (const [name, property] of Object.entries(one.properties ?? {})) {
      const why = property[UNUSED];
      const inner = why === undefined ? placeOf(property) : null;
      if (why !== undefined) unused.set(name, why);
      else if (inner !== null) within.set(name, inner);
    }
    if (one.items !== undefined) items ??= placeOf(one.items);
  }
  return unused.size === 0 && within.size === 0 && items === null ? null : { unused, within, items };
}

function taken(place: Place, value: unknown, path: string, what: string, notes: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const { items } = place;
    return items === null ? value : value.map((item) => taken(items, item, `${path}[]`, what, notes));
  }
  let rest: Record<string, unknown> | null = null;
  for (const [name, held] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const why = place.unused.get(name);
    const inner = place.within.get(name);
    const kept = inner === undefined ? held : taken(inner, held, at, what, notes);
    if (why === undefined && kept === held) continue;
    rest ??= { ...value };
    if (why === undefined) rest[name] = kept;
    else {
      notes.add(`The ${what} "${at}" is not used: ${why}`);
      delete rest[name];
    }
  }
  return rest ?? value;
}
