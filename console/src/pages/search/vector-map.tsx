/**
 * Vectors on a plane, as the server places them: coloured by a column or a member of metadata, filtered by the legend
 * or by drawing around points. Shown for collections of vectors and for results of queries.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { cellText, countText, durationText, plural } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Busy, Button } from "../../ui/button.js";
import { Select } from "../../ui/field.js";
import { MapCanvas } from "../../ui/map-canvas.js";
import type { MapPoints } from "../../ui/map-drawing.js";
import { Empty, Failure } from "../../ui/notice.js";
import { captionOfRow, colouringBy, fieldsOf, type MapClass, type MapRow } from "./map-colours.js";
import { type FindNear, MapRows, useWalk } from "./map-walk.js";

export interface MapSource {
  readonly sql: string;
  readonly parameters?: unknown;
  readonly metric?: string;
  readonly maxPoints?: number;
}

interface VectorMapProps {
  readonly source: MapSource;
  /** What is nearest to a row among all vectors, in order; absent: that cannot be asked. */
  readonly near?: FindNear;
  /** These rows stand out. */
  readonly isMarked?: (row: MapRow) => boolean;
  /** Shows rows elsewhere; absent: there is no such place. */
  readonly onOpen?: (rows: readonly MapRow[]) => void;
}

interface Placed {
  readonly columns: readonly Column[];
  readonly rows: readonly MapRow[];
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly dimensions: number;
  readonly truncated: boolean;
  readonly ms: number;
}

type Method = "neighbours" | "principal";

const METHODS: readonly (readonly [Method, string])[] = [
  ["neighbours", "Neighbours"],
  ["principal", "Main directions"],
];
const NO_FIELD = "";

export function VectorMap({ source, near, isMarked, onOpen }: VectorMapProps) {
  const [method, setMethod] = useState<Method>("neighbours");
  const { data, error, isLoading } = useLoad<Placed>(
    async (signal) => {
      const { sql, parameters, metric, maxPoints } = source;
      const startedAt = performance.now();
      const body = {
        ...{ sql, method },
        ...(parameters !== undefined && { parameters }),
        ...(metric !== undefined && { metric }),
        ...(maxPoints !== undefined && { max_points: maxPoints }),
      };
      const sent = { body, signal, idempotencyKey: "" };
      const placed = await client().request<Omit<Placed, "ms">>("POST", "/v1/vectors/map", sent);
      return { ...placed, ms: performance.now() - startedAt };
    },
    [source.sql, source.parameters, method],
  );
  if (data === undefined) {
    return (
      <div class="map-waits">
        <Failure error={error} />
        {isLoading && <Busy label="The server places the vectors" />}
      </div>
    );
  }
  if (data.rows.length === 0) return <Empty icon="vector" title="There are no vectors to place" />;
  return (
    <div class={isLoading ? "vector-map stale" : "vector-map"}>
      <Shown
        key={`${source.sql} ${method}`}
        placed={data}
        method={method}
        onMethod={setMethod}
        near={near ?? null}
        {...(isMarked && { isMarked })}
        {...(onOpen && { onOpen })}
      />
    </div>
  );
}

interface ShownProps extends Pick<VectorMapProps, "isMarked" | "onOpen"> {
  readonly placed: Placed;
  readonly method: Method;
  readonly onMethod: (method: Method) => void;
  readonly near: FindNear | null;
}

function Shown({ placed, method, onMethod, near, isMarked, onOpen }: ShownProps) {
  const { columns, rows } = placed;
  const fields = useMemo(() => fieldsOf(columns, rows), [placed]);
  const [fieldId, setFieldId] = useState(fields[0]?.id ?? NO_FIELD);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [chosen, setChosen] = useState<readonly number[] | null>(null);
  const walk = useWalk(placed.rows, near);
  const { picked, nearest } = walk;
  const [over, setOver] = useState<{ index: number; left: number; top: number } | null>(null);
  const field = fields.find(({ id }) => id === fieldId);
  const colouring = useMemo(() => colouringBy(field, rows), [field, rows]);
  useEffect(() => setHidden(new Set()), [fieldId]);
  const marked = useMemo(
    () => (isMarked ? rows.flatMap((row, i) => (isMarked(row) ? [i] : [])) : []),
    [rows, isMarked],
  );
  const kept = useMemo(() => keptBy(colouring.places, hidden, chosen), [colouring, hidden, chosen]);
  const places = useMemo(() => ({ x: Float32Array.from(placed.x), y: Float32Array.from(placed.y) }), [placed]);
  const points = useMemo<MapPoints>(
    () => ({
      ...{ ...places, colours: colouring.places, kept },
      marked: [...marked, ...(picked === null ? [] : [picked]), ...nearest.map(({ index }) => index)],
    }),
    [places, colouring, kept, marked, picked, nearest],
  );
  const toggle = (place: number): void =>
    setHidden((before) => {
      const next = new Set(before);
      if (!next.delete(place)) next.add(place);
      return next;
    });
  const keptRows = kept === null ? rows : rows.filter((_, i) => kept[i] === 1);
  return (
    <>
      <div class="chart-choices">
        <Select
          label="Colour by"
          value={fieldId}
          options={[[NO_FIELD, "Nothing"] as const, ...fields.map(({ id, label }) => [id, label] as const)]}
          onChange={setFieldId}
        />
        <Select label="Placed by" value={method} options={METHODS} onChange={onMethod} />
        <p class="muted map-told" role="status">
          {plural(keptRows.length, "vector")}
          {kept !== null && ` of ${countText(rows.length)}`} · {placed.dimensions} dimensions ·{" "}
          {durationText(placed.ms)}
          {placed.truncated && " · there are more"}
        </p>
        {kept !== null && (
          <Button
            onClick={() => {
              setHidden(new Set());
              setChosen(null);
            }}
          >
            Clear the filter
          </Button>
        )}
        {onOpen !== undefined && kept !== null && keptRows.length > 0 && (
          <Button icon="query" onClick={() => onOpen(keptRows)}>
            Query these
          </Button>
        )}
      </div>
      <div class="graph-view">
        <MapCanvas
          label={`A map of ${rows.length} vectors${field === undefined ? "" : `, coloured by ${field.label}`}. The list beside it names them.`}
          points={points}
          colours={colouring.classes.map(({ colour }) => colour)}
          hovered={over?.index ?? null}
          onHover={(index, left, top) => setOver(index === null ? null : { index, left, top })}
          onPick={walk.go}
          onLasso={(indices) => {
            if (indices.length > 0) setChosen(indices);
          }}
        />
        {over !== null && (
          <div class="chart-reading" role="status" style={{ left: `${over.left + 14}px`, top: `${over.top + 10}px` }}>
            <strong>{captionOfRow(columns, rows[over.index]!)}</strong>
            {field !== undefined && (
              <span>
                {field.label}: {cellText(field.read(rows[over.index]!))}
              </span>
            )}
          </div>
        )}
        <aside class="node-panel" aria-label="Vectors of the map">
          {field !== undefined && (
            <Classes label={field.label} classes={colouring.classes} hidden={hidden} onToggle={toggle} />
          )}
          <MapRows columns={columns} rows={rows} kept={kept} walk={walk} />
        </aside>
      </div>
    </>
  );
}

/** Null: all of them. */
function keptBy(places: Uint8Array, hidden: ReadonlySet<number>, chosen: readonly number[] | null): Uint8Array | null {
  if (hidden.size === 0 && chosen === null) return null;
  const kept = new Uint8Array(places.length);
  if (chosen === null) kept.fill(1);
  else for (const index of chosen) kept[index] = 1;
  if (hidden.size > 0) for (let i = 0; i < kept.length; i++) if (hidden.has(places[i]!)) kept[i] = 0;
  return kept;
}

interface ClassesProps {
  readonly label: string;
  readonly classes: readonly MapClass[];
  readonly hidden: ReadonlySet<number>;
  readonly onToggle: (place: number) => void;
}

function Classes({ label, classes, hidden, onToggle }: ClassesProps) {
  return (
    <div role="group" aria-label={`Values of ${label}`} class="map-classes">
      {classes.map(({ label: name, colour, count }, place) => (
        <button
          key={name}
          type="button"
          class="side-entry"
          aria-pressed={!hidden.has(place)}
          onClick={() => onToggle(place)}
        >
          <span class="swatch" style={{ background: colour }} />
          <span>{name}</span>
          <small class="number">{countText(count)}</small>
        </button>
      ))}
    </div>
  );
}
