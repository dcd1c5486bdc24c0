/** By what the points of a map can be coloured, and how. Pure. */
import { cellText, measureText, numberOf } from "../../lib/format.js";

export type MapRow = readonly unknown[];

export interface MapField {
  readonly id: string;
  readonly label: string;
  readonly read: (row: MapRow) => unknown;
}

/** What one colour stands for. */
export interface MapClass {
  readonly label: string;
  /** As CSS writes it. */
  readonly colour: string;
  readonly count: number;
}

export interface MapColouring {
  readonly classes: readonly MapClass[];
  /** The place of each row's class. */
  readonly places: Uint8Array;
}

/** Of series, as styles name them. */
const SERIES = 10;
/** From low to high, as viridis has them, without its ends, which one of the two themes hides. */
const RAMP = ["#47307d", "#3b528b", "#2c728e", "#1f938b", "#35b779", "#7fc93f", "#c9cf1d"];
const CAPTION_MAX = 90;
const ROWS_LOOKED_AT = 2_000;
const REST = "var(--muted)";

/** Columns, and members of columns of JSON, that do not have another text in every row; those of few values first. */
export function fieldsOf(columns: readonly { readonly name: string }[], rows: readonly MapRow[]): readonly MapField[] {
  const seen = rows.slice(0, ROWS_LOOKED_AT);
  const fields = columns.flatMap(({ name }, c): readonly MapField[] => {
    const members = new Set(seen.flatMap((row) => (isObject(row[c]) ? Object.keys(row[c]) : [])));
    if (members.size === 0) return [{ id: name, label: name, read: (row) => row[c] }];
    return [...members].map((member) => ({
      ...{ id: `${name}.${member}`, label: member },
      read: (row) => (isObject(row[c]) ? row[c][member] : null),
    }));
  });
  const kindsOf = ({ read }: MapField): number => new Set(seen.map(read)).size;
  const usable = fields.filter((field) => {
    const values = seen.map(field.read);
    if (values.some(isObject)) return false;
    const kinds = kindsOf(field);
    return (
      kinds > 1 && (kinds <= Math.max(2, seen.length / 2) || values.every((value) => value == null || isNumber(value)))
    );
  });
  return usable.sort((a, b) => Number(kindsOf(a) > SERIES) - Number(kindsOf(b) > SERIES));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): boolean {
  return typeof value !== "boolean" && Number.isFinite(numberOf(value));
}

export function colouringBy(field: MapField | undefined, rows: readonly MapRow[]): MapColouring {
  if (field === undefined) {
    const all = { label: "All", colour: "var(--series-1)", count: rows.length };
    return { classes: [all], places: new Uint8Array(rows.length) };
  }
  const values = rows.map(field.read);
  const counts = new Map<string, number>();
  for (const value of values) {
    const text = cellText(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const isMeasured = counts.size > SERIES && values.every((value) => value == null || isNumber(value));
  return isMeasured ? byAmount(values) : byName(values, counts);
}

function byName(values: readonly unknown[], counts: ReadonlyMap<string, number>): MapColouring {
  const most = [...counts].sort((a, b) => b[1] - a[1]);
  const named = most.length > SERIES ? most.slice(0, SERIES - 1) : most;
  const classes: MapClass[] = named.map(([label, count], i) => ({ label, colour: `var(--series-${i + 1})`, count }));
  const rest = values.length - classes.reduce((sum, { count }) => sum + count, 0);
  if (rest > 0) classes.push({ label: "others", colour: REST, count: rest });
  const placeOf = new Map(named.map(([label], i) => [label, i]));
  return {
    classes,
    places: Uint8Array.from(values, (value) => placeOf.get(cellText(value)) ?? classes.length - 1),
  };
}

/** In steps that have about as many rows each. */
function byAmount(values: readonly unknown[]): MapColouring {
  const numbers = values.map((value) => (value == null ? Number.NaN : numberOf(value)));
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const ends = RAMP.map((_, i) => sorted[Math.floor(((i + 1) * (sorted.length - 1)) / RAMP.length)]!);
  const bounds = ends.filter((end, i) => i === 0 || end > ends[i - 1]!);
  const places = Uint8Array.from(numbers, (value) => {
    if (Number.isNaN(value)) return bounds.length;
    const at = bounds.findIndex((bound) => value <= bound);
    return at < 0 ? bounds.length - 1 : at;
  });
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const place of places) counts[place]!++;
  const classes: MapClass[] = bounds.map((bound, i) => ({
    ...{ label: `to ${measureText(bound)}`, count: counts[i]! },
    colour: RAMP[Math.round((i * (RAMP.length - 1)) / Math.max(1, bounds.length - 1))]!,
  }));
  if (counts[bounds.length]! > 0) classes.push({ label: "NULL", colour: REST, count: counts[bounds.length]! });
  return { classes, places };
}

const NAMES = ["name", "title", "text", "label"];

/** What a row is called: a value that sounds like a name, or its longest text but the id. */
export function captionOfRow(columns: readonly { readonly name: string }[], row: MapRow): string {
  const values: Record<string, unknown> = {};
  for (const [c, { name }] of columns.entries()) {
    const value = row[c];
    if (isObject(value)) Object.assign(values, value);
    else values[name] ??= value;
  }
  const name = NAMES.find((each) => typeof values[each] === "string");
  if (name !== undefined) return cellText(values[name]).slice(0, CAPTION_MAX);
  const texts = Object.entries(values).flatMap(([key, value]) =>
    typeof value === "string" && key !== "id" ? [value] : [],
  );
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), "");
  return (longest === "" ? cellText(Object.values(values)[0] ?? "") : longest).slice(0, CAPTION_MAX);
}
