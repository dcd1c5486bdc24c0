/**
 * A chart on a canvas: lines, bars or points over numbers, times or names. The pointer, or arrows, read single values.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useStore } from "../lib/store.js";
import { theme } from "../lib/theme.js";
import { drawChart, nearestPoint } from "./chart-drawing.js";

export type ChartKind = "line" | "bar" | "scatter";

export interface Series {
  readonly name: string;
  /** As many as `x` has places; NaN leaves one out. */
  readonly values: readonly number[];
}

export interface ChartData {
  readonly kind: ChartKind;
  /** Numbers, milliseconds since 1970 of times, or places of names. */
  readonly x: readonly number[];
  readonly xKind: "number" | "time" | "name";
  /** Of names, by place. */
  readonly nameAt?: (place: number) => string;
  /** What the axis says instead, where names are long. */
  readonly tickAt?: (place: number) => string;
  readonly series: readonly Series[];
  /** A line goes on over places that its series does not have. */
  readonly joinsGaps?: boolean;
}

interface ChartProps {
  readonly label: string;
  readonly data: ChartData;
  readonly format?: (value: number) => string;
}

export interface Reading {
  readonly index: number;
  readonly left: number;
  readonly top: number;
  readonly title: string;
  readonly lines: readonly string[];
}

export function Chart({ label, data, format }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [reading, setReading] = useState<Reading | null>(null);
  const colours = useStore(theme);
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize({ width: Math.floor(width), height: Math.floor(height) });
    });
    sizes.observe(canvas.current!.parentElement!);
    return () => sizes.disconnect();
  }, []);
  useEffect(() => {
    if (size.width === 0 || size.height === 0) return;
    drawChart(canvas.current!, size, data, format);
  }, [size, data, colours, format]);
  useEffect(() => setReading(null), [data]);
  return (
    <div class="chart">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        tabIndex={0}
        style={{ width: `${size.width}px`, height: `${size.height}px` }}
        onPointerMove={(event) =>
          setReading(nearestPoint(size, data, { left: event.offsetX, top: event.offsetY }, format))
        }
        onPointerLeave={() => setReading(null)}
        onKeyDown={(event) => {
          const next = indexByKey(event.key, reading?.index ?? null, data.x.length);
          if (next === null) return;
          event.preventDefault();
          setReading(nearestPoint(size, data, { index: next }, format));
        }}
      />
      {reading !== null && (
        <div
          class="chart-reading"
          role="status"
          style={{
            left: `${Math.min(reading.left + 12, size.width - 170)}px`,
            top: `${Math.max(4, reading.top - 12)}px`,
          }}
        >
          <strong>{reading.title}</strong>
          {reading.lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
      {data.series.length > 1 && (
        <ul class="chart-legend">
          {data.series.map(({ name }, index) => (
            <li key={name}>
              <span class={`swatch s${(index % 6) + 1}`} />
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Arrows go to the next value, Page Up and Down over a tenth of them. Null: another key. */
function indexByKey(key: string, now: number | null, count: number): number | null {
  const page = Math.max(1, Math.round(count / 10));
  const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1, PageDown: page, PageUp: -page };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  return step === undefined ? null : Math.max(0, Math.min(count - 1, now === null ? 0 : now + step));
}
