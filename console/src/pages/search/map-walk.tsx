/** Beside a map: its rows by name; of a chosen one the values and what is nearest to it, from where one can walk on. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { cellText, roundedText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { Busy, Button } from "../../ui/button.js";
import { Failure } from "../../ui/notice.js";
import { captionOfRow, type MapRow } from "./map-colours.js";

export interface Neighbour {
  readonly id: string;
  readonly distance: number;
}

/** Asks for what is nearest to a row, by all of its dimensions. */
export interface FindNear {
  readonly idOf: (row: MapRow) => string;
  readonly find: (id: string, signal: AbortSignal) => Promise<readonly Neighbour[]>;
}

export interface Walk {
  /** Null: nothing is chosen. */
  readonly picked: number | null;
  /** Those of the map's rows; the nearest comes first. */
  readonly nearest: readonly { readonly index: number; readonly distance: number }[];
  readonly canAsk: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly go: (index: number | null) => void;
  /** To where the walk came from; null: it has just begun. */
  readonly back: (() => void) | null;
}

const NOTHING: Walk["nearest"] = [];

export function useWalk(rows: readonly MapRow[], near: FindNear | null): Walk {
  const [steps, setSteps] = useState<readonly number[]>([]);
  useEffect(() => setSteps([]), [rows]);
  const picked = steps.at(-1) ?? null;
  const places = useMemo(() => new Map(near === null ? [] : rows.map((row, i) => [near.idOf(row), i])), [rows, near]);
  const id = picked === null || near === null || rows[picked] === undefined ? null : near.idOf(rows[picked]);
  const { data, error, isLoading } = useLoad(
    async (signal) => (id === null ? [] : near!.find(id, signal)),
    [id, rows.length],
  );
  const nearest = useMemo(
    () =>
      (data ?? []).flatMap(({ id: other, distance }) => {
        const index = places.get(other);
        return index === undefined || index === picked ? [] : [{ index, distance }];
      }),
    [data, places, picked],
  );
  return {
    ...{ picked, nearest: id === null ? NOTHING : nearest, canAsk: near !== null, isLoading, error },
    go: (index) => setSteps((now) => (index === null ? [] : index === now.at(-1) ? now : [...now, index])),
    back: steps.length < 2 ? null : () => setSteps((now) => now.slice(0, -1)),
  };
}

const LISTED_MAX = 150;

interface MapRowsProps {
  readonly columns: readonly Column[];
  readonly rows: readonly MapRow[];
  readonly kept: Uint8Array | null;
  readonly walk: Walk;
}

export function MapRows({ columns, rows, kept, walk }: MapRowsProps) {
  const row = walk.picked === null ? undefined : rows[walk.picked];
  if (row !== undefined) return <ChosenRow columns={columns} rows={rows} row={row} walk={walk} />;
  const listed: number[] = [];
  for (let i = 0; i < rows.length && listed.length < LISTED_MAX; i++)
    if (kept === null || kept[i] === 1) listed.push(i);
  return (
    <ul class="node-list" aria-label="Vectors">
      {listed.map((i) => (
        <li key={i}>
          <button type="button" class="side-entry" onClick={() => walk.go(i)}>
            <span>{captionOfRow(columns, rows[i]!)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

type ChosenRowProps = Omit<MapRowsProps, "kept"> & { readonly row: MapRow };

function ChosenRow({ columns, rows, row, walk }: ChosenRowProps) {
  const { nearest, canAsk, isLoading, error, go, back } = walk;
  const values = columns.flatMap(({ name }, c): readonly (readonly [string, unknown])[] => {
    const value = row[c];
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [[name, value]];
  });
  return (
    <>
      <h2>{captionOfRow(columns, row)}</h2>
      <div class="row">
        {back !== null && <Button onClick={back}>Back</Button>}
        <Button kind="quiet" onClick={() => go(null)}>
          All vectors
        </Button>
      </div>
      <dl class="row-values">
        {values.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="code">{cellText(value)}</dd>
          </div>
        ))}
      </dl>
      {canAsk && (
        <>
          <h3>Nearest to it</h3>
          <Failure error={error} />
          {isLoading && nearest.length === 0 && <Busy />}
          <ul class="node-list" aria-label="Nearest to it">
            {nearest.map(({ index, distance }) => (
              <li key={index}>
                <button type="button" class="side-entry" onClick={() => go(index)}>
                  <span>{captionOfRow(columns, rows[index]!)}</span>
                  <small class="number">{roundedText(distance)}</small>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
