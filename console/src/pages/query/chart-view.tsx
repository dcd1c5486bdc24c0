/** A result as a chart: which columns, and how. What fits them is chosen first. */
import { useMemo, useState } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { cellText, isNumeric, numberOf, plural, roundedText } from "../../lib/format.js";
import { Chart, type ChartData, type ChartKind } from "../../ui/chart.js";
import { boundsOf } from "../../ui/chart-scales.js";
import { Select } from "../../ui/field.js";
import { Empty } from "../../ui/notice.js";
import { inOrder, SERIES_MAX, splitRows } from "./chart-split.js";
import type { List } from "./run.js";
import { histogramOf } from "./summarize.js";

type Kind = ChartKind | "histogram";

interface ChartViewProps {
  readonly columns: readonly Column[];
  readonly rows: readonly List[];
  readonly count: number;
}

const HISTOGRAM_BARS = 40;
const TIME = /^(?:date|timestamp)/;

const KINDS: readonly (readonly [Kind, string])[] = [
  ["line", "Line"],
  ["bar", "Bars"],
  ["scatter", "Points"],
  ["histogram", "Histogram"],
];

export function ChartView({ columns, rows, count }: ChartViewProps) {
  const [chosen, setChosen] = useState<{ kind?: Kind; x?: number; y?: number; by?: number }>({});
  const [numeric, first] = useMemo(() => {
    const found = columns.flatMap((column, i) => (isChartable(column, i, rows) ? [i] : []));
    return [found, choiceFor(columns, rows, count, found)] as const;
  }, [columns, rows, count]);
  const x = Math.min(chosen.x ?? first.x, columns.length - 1);
  const y = numeric.includes(chosen.y ?? -1) ? chosen.y! : (numeric.findLast((i) => i !== x) ?? numeric[0]);
  const kind = chosen.kind ?? first.kind;
  const by = kind === "histogram" || (chosen.by ?? columns.length) >= columns.length ? null : chosen.by!;
  const drawn = useMemo(
    () => (y === undefined ? null : dataOf({ kind, x, y, by, columns, rows, count })),
    [kind, x, y, by, columns, rows, count],
  );
  if (drawn === null) {
    return (
      <Empty icon="chart" title="No column has numbers">
        A chart needs at least one.
      </Empty>
    );
  }
  const named = columns.map(({ name }, i): [string, string] => [String(i), name]);
  return (
    <div class="chart-view">
      <div class="chart-choices">
        <Select label="Chart" value={kind} options={KINDS} onChange={(now) => setChosen({ ...chosen, kind: now })} />
        {kind !== "histogram" && (
          <Select
            label="Across"
            value={String(x)}
            options={named}
            onChange={(now) => setChosen({ ...chosen, x: Number(now) })}
          />
        )}
        <Select
          label={kind === "histogram" ? "Of" : "Up"}
          value={String(y)}
          options={named.filter(([i]) => numeric.includes(Number(i)))}
          onChange={(now) => setChosen({ ...chosen, y: Number(now) })}
        />
        {kind !== "histogram" && (
          <Select
            label="Split by"
            value={by === null ? "" : String(by)}
            options={[["", "Nothing"], ...named.filter(([i]) => Number(i) !== x && Number(i) !== y)]}
            onChange={(now) => setChosen({ ...chosen, by: now === "" ? columns.length : Number(now) })}
          />
        )}
        {drawn.distinct > SERIES_MAX && (
          <p class="muted">
            The {SERIES_MAX} most frequent of {plural(drawn.distinct, "value")}.
          </p>
        )}
        {drawn.without > 0 && (
          <p class="muted">
            {plural(drawn.without, "row")} without {columns[x]!.name} left out.
          </p>
        )}
      </div>
      <Chart label={`${columns[y!]!.name} by ${columns[x]!.name}`} data={drawn.chart} />
    </div>
  );
}

const NAMED_MAX = 60;

/** Times as a line, a few names as bars, numbers that grow as a line, and others as points. */
function choiceFor(
  columns: readonly Column[],
  rows: readonly List[],
  count: number,
  numeric: readonly number[],
): { readonly x: number; readonly kind: Kind } {
  const time = columns.findIndex(({ data_type: type }) => TIME.test(type));
  if (time >= 0) return { x: time, kind: "line" };
  const name = columns.findIndex((_, i) => !numeric.includes(i));
  if (name >= 0 && (count <= NAMED_MAX || numeric.length < 2)) return { x: name, kind: "bar" };
  const x = numeric[0] ?? 0;
  if (numeric.length < 2) return { x, kind: "histogram" };
  const grows = rows.slice(0, count).every((row, i) => i === 0 || numberOf(rows[i - 1]![x]) <= numberOf(row[x]));
  return { x, kind: grows ? "line" : "scatter" };
}

/** Columns of Cypher have no type: their first value tells. */
function isChartable({ data_type: type }: Column, index: number, rows: readonly List[]): boolean {
  return isNumeric(type) || typeof rows.find((row) => row[index] !== null)?.[index] === "number";
}

interface Chosen extends ChartViewProps {
  readonly kind: Kind;
  readonly x: number;
  readonly y: number;
  /** The column that splits the values into several series. */
  readonly by: number | null;
}

interface Drawn {
  readonly chart: ChartData;
  /** Values of the column that splits. */
  readonly distinct: number;
  /** Rows that have no place across. */
  readonly without: number;
}

function dataOf({ kind, x, y, by, columns, rows, count }: Chosen): Drawn {
  const all = rows.slice(0, count);
  if (kind === "histogram") {
    return { chart: histogramChart(all.map((row) => numberOf(row[y]))), distinct: 0, without: 0 };
  }
  const xKind = acrossKind(kind, columns[x]!, all, x);
  const size = (value: unknown): number => (xKind === "time" ? momentOf(value) : numberOf(value));
  const placed = xKind === "name" ? all : all.filter((row) => Number.isFinite(size(row[x])));
  const isOrdered = by !== null || (kind === "line" && xKind !== "name");
  const taken = isOrdered ? inOrder(placed, x) : placed;
  const split = by === null ? null : splitRows({ rows: taken, x, y, by, isEachRow: kind === "scatter" });
  const series = split?.series ?? [{ name: columns[y]!.name, values: taken.map((row) => numberOf(row[y])) }];
  const across = split?.across ?? taken.map((row) => row[x]);
  const drawn = { kind, xKind, series, joinsGaps: split !== null };
  const chart: ChartData =
    xKind === "name"
      ? { ...drawn, x: across.map((_, i) => i), nameAt: (place) => cellText(across[place]) }
      : { ...drawn, x: across.map(size) };
  return { chart, distinct: split?.distinct ?? 0, without: all.length - placed.length };
}

/** A date begins where the reader is, as times without a zone do: Date.parse takes dates alone as those of UTC. */
function momentOf(value: unknown): number {
  const text = String(value);
  return Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
}

/** Bars stand beside each other, whatever lies between their numbers. */
function acrossKind(
  kind: ChartKind,
  { data_type: type }: Column,
  rows: readonly List[],
  x: number,
): ChartData["xKind"] {
  if (TIME.test(type)) return "time";
  const isNumber = (value: unknown): boolean => value === null || Number.isFinite(numberOf(value));
  return kind !== "bar" && rows.every((row) => isNumber(row[x])) ? "number" : "name";
}

function histogramChart(numbers: readonly number[]): ChartData {
  const finite = numbers.filter((value) => Number.isFinite(value));
  const [least, most] = boundsOf(finite);
  const bars = finite.length === 0 ? [] : histogramOf(finite, least, most, HISTOGRAM_BARS);
  return {
    kind: "bar",
    x: bars.map((_, i) => i),
    xKind: "name",
    nameAt: (place) => bars[place]!.label,
    tickAt: (place) => roundedText(least + ((most - least) / bars.length) * place),
    series: [{ name: "rows", values: bars.map((bar) => bar.count) }],
  };
}
