/** Tables and the keys between them, drawn. A table is a link to its page. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { idOfRelation } from "../../lib/relation-names.js";
import { linkTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { Empty, Waiting } from "../../ui/notice.js";
import {
  BOX_WIDTH,
  type Box,
  type DiagramColumn,
  type DiagramTable,
  type ForeignKey,
  HEAD,
  layoutOf,
  ROW,
} from "./diagram-layout.js";

const COLUMNS = `SELECT n.nspname, c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'graph:%'
  AND c.relname NOT LIKE '\\_%'
ORDER BY n.nspname, c.relname, a.attnum`;
const KEYS = `SELECT k.contype, n.nspname, c.relname, k.conkey, fn.nspname, f.relname, k.confkey
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class f ON f.oid = k.confrelid LEFT JOIN pg_namespace fn ON fn.oid = f.relnamespace
WHERE k.contype IN ('p', 'f')`;
const ROWS_MAX = 100_000;
const SHOWN_MAX = 12;

type ColumnRow = readonly [schema: string, table: string, place: number, name: string, type: string];
type KeyRow = readonly [
  kind: string,
  schema: string,
  table: string,
  places: readonly number[],
  toSchema: string | null,
  to: string | null,
  toPlaces: readonly number[] | null,
];

interface Schema {
  readonly tables: readonly DiagramTable[];
  readonly keys: readonly ForeignKey[];
}

async function loadSchema(signal: AbortSignal): Promise<Schema> {
  const options = { signal, maxRows: ROWS_MAX };
  const [columns, keys] = await Promise.all([client().query(COLUMNS, [], options), client().query(KEYS, [], options)]);
  return schemaOf(columns.lists as readonly ColumnRow[], keys.lists as unknown as readonly KeyRow[]);
}

function idOf(schema: string, table: string): string {
  return idOfRelation({ schema, name: table });
}

function schemaOf(columns: readonly ColumnRow[], keys: readonly KeyRow[]): Schema {
  const names = new Map(columns.map(([schema, table, place, name]) => [`${idOf(schema, table)} ${place}`, name]));
  const primary = new Set<string>();
  const foreign: ForeignKey[] = [];
  for (const [kind, schema, table, places, toSchema, to, toPlaces] of keys) {
    const from = idOf(schema, table);
    if (kind === "p") for (const place of places) primary.add(`${from} ${names.get(`${from} ${place}`)}`);
    else if (to !== null && toPlaces !== null) {
      const target = idOf(toSchema!, to);
      const [fromColumn, toColumn] = [names.get(`${from} ${places[0]}`), names.get(`${target} ${toPlaces[0]}`)];
      if (fromColumn !== undefined && toColumn !== undefined) foreign.push({ from, fromColumn, to: target, toColumn });
    }
  }
  const isForeign = new Set(foreign.map(({ from, fromColumn }) => `${from} ${fromColumn}`));
  const byTable = new Map<string, DiagramColumn[]>();
  for (const [schema, table, , name, type] of columns) {
    const id = idOf(schema, table);
    const all = byTable.get(id) ?? [];
    byTable.set(id, all);
    all.push({
      name,
      type: shortType(type),
      isPrimary: primary.has(`${id} ${name}`),
      isForeign: isForeign.has(`${id} ${name}`),
    });
  }
  const tables = [...byTable].map(([id, all]): DiagramTable => {
    const first = [...all].sort((a, b) => weightOf(b) - weightOf(a)).slice(0, SHOWN_MAX);
    return { id, name: id, columns: all.filter((column) => first.includes(column)), more: all.length - first.length };
  });
  return { tables, keys: foreign };
}

function shortType(type: string): string {
  return type.replace(/^(timestamp|time)(\(\d\))? with(out)? time zone/, (_, name, digits = "", out) =>
    out === undefined ? `${name}tz${digits}` : name + digits,
  );
}

/** Keys are shown before others. */
function weightOf({ isPrimary, isForeign }: DiagramColumn): number {
  return isPrimary ? 2 : isForeign ? 1 : 0;
}

const SCALES = [0.4, 0.55, 0.75, 1, 1.3];

export function Diagram() {
  const { data, error } = useLoad(loadSchema, []);
  const [over, setOver] = useState<string | null>(null);
  const [scaleAt, setScaleAt] = useState(3);
  const [width, setWidth] = useState(1000);
  const place = useRef<HTMLDivElement>(null);
  const scale = SCALES[scaleAt]!;
  useEffect(() => {
    if (place.current !== null) setWidth(place.current.clientWidth);
  }, [data === undefined]);
  const layout = useMemo(
    () => (data === undefined ? null : layoutOf(data.tables, data.keys, Math.floor(width / scale / (BOX_WIDTH + 26)))),
    [data, width, scale],
  );
  if (data === undefined || layout === null) return <Waiting error={error} />;
  if (data.tables.length === 0) return <Empty icon="table" title="There are no tables yet" />;
  return (
    <section class="diagram" aria-label="Tables and keys">
      <div class="diagram-bar">
        <span class="muted">
          {plural(data.tables.length, "table")}, {plural(data.keys.length, "foreign key")}
        </span>
        <span class="spacer" />
        <Button icon="minus" label="Smaller" disabled={scaleAt === 0} onClick={() => setScaleAt(scaleAt - 1)} />
        <Button
          icon="plus"
          label="Larger"
          disabled={scaleAt === SCALES.length - 1}
          onClick={() => setScaleAt(scaleAt + 1)}
        />
      </div>
      {/* A region that scrolls has to take the focus, so that arrows can scroll it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <div class="diagram-place" ref={place} tabIndex={0} role="group" aria-label="The diagram">
        <svg
          width={layout.width * scale}
          height={layout.height * scale}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          class="diagram-drawing"
          role="group"
          aria-label={`${plural(data.tables.length, "table")} and the keys between them`}
        >
          <defs>
            <marker
              id="diagram-many"
              viewBox="0 0 10 10"
              refX="1"
              refY="5"
              markerWidth="9"
              markerHeight="9"
              orient="auto"
            >
              <path d="M0 0L10 5M0 10L10 5M0 5L10 5" />
            </marker>
            <marker
              id="diagram-one"
              viewBox="0 0 10 10"
              refX="9"
              refY="5"
              markerWidth="9"
              markerHeight="9"
              orient="auto"
            >
              <path d="M4 0V10" />
            </marker>
          </defs>
          {layout.lines.map(({ key, path }, i) => (
            <path
              key={i}
              d={path}
              class={over === key.from || over === key.to ? "diagram-line over" : "diagram-line"}
              marker-start="url(#diagram-many)"
              marker-end="url(#diagram-one)"
            >
              <title>
                {key.from}.{key.fromColumn} refers to {key.to}.{key.toColumn}
              </title>
            </path>
          ))}
          {layout.boxes.map((box) => (
            <TableBox key={box.table.id} box={box} onOver={setOver} />
          ))}
        </svg>
      </div>
    </section>
  );
}

const NAME_MAX = 26;
const TYPE_MAX = 14;

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function TableBox({ box, onOver }: { readonly box: Box; readonly onOver: (id: string | null) => void }) {
  const { table, x, y, height } = box;
  return (
    <a
      href={linkTo(["data", "table", table.id])}
      class="diagram-table"
      onPointerEnter={() => onOver(table.id)}
      onPointerLeave={() => onOver(null)}
      onFocus={() => onOver(table.id)}
      onBlur={() => onOver(null)}
    >
      <rect x={x} y={y} width={BOX_WIDTH} height={height} rx="6" class="diagram-box" />
      <path
        d={`M${x} ${y + HEAD}V${y + 6}a6 6 0 0 1 6 -6h${BOX_WIDTH - 12}a6 6 0 0 1 6 6V${y + HEAD}z`}
        class="diagram-head"
      />
      <text x={x + 10} y={y + 20} class="diagram-name">
        {cut(table.name, NAME_MAX)}
        <title>{table.name}</title>
      </text>
      {table.columns.map(({ name, type, isPrimary, isForeign }, i) => {
        const line = y + HEAD + i * ROW + 15;
        return (
          <g key={name}>
            {(isPrimary || isForeign) && (
              <circle cx={x + 11} cy={line - 4} r="3.5" class={isPrimary ? "diagram-primary" : "diagram-foreign"} />
            )}
            <text x={x + 22} y={line}>
              {cut(name, NAME_MAX - TYPE_MAX + 5)}
            </text>
            <text x={x + BOX_WIDTH - 9} y={line} class="diagram-type">
              {cut(type, TYPE_MAX)}
            </text>
          </g>
        );
      })}
      {table.more > 0 && (
        <text x={x + 22} y={y + HEAD + table.columns.length * ROW + 15} class="diagram-type start">
          and {table.more} more
        </text>
      )}
    </a>
  );
}
