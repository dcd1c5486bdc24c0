/** A soak as lines over time: plain SVG that reads on light and dark pages. Called by run.ts. */
import { svgText } from "../report/svg-text.js";
import type { WindowReport } from "./load.js";
import { DATA_PARTS, type Sample } from "./samples.js";
import { quantile } from "./verdict.js";

interface Series {
  readonly name: string;
  readonly points: readonly (readonly [seconds: number, value: number])[];
}

interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

const WIDTH = 860;
const LEFT = 70;
const RIGHT = 170;
const HEADER = 46;
const PANEL = 110;
const PANEL_GAP = 44;
const COLOURS = ["#2563eb", "#c2410c", "#059669", "#9333ea", "#ca8a04", "#0891b2", "#64748b"];
const MIB = 2 ** 20;
/** Kinds of work whose 99th percentile is drawn: one of each model. */
const DRAWN = ["point read", "update", "document put", "vector search", "graph read", "hybrid search"];

export function chart(caption: string, samples: readonly Sample[], windows: readonly WindowReport[]): string {
  const panels = panelsOf(samples, windows);
  const end = samples.at(-1)?.second ?? 1;
  const height = HEADER + panels.length * (PANEL + PANEL_GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#7c8798">`,
    "<title>Memory, handles, data and latencies of a server under mixed load</title>",
    svgText(0, 16, "Mixed work over all models", "font-weight='600' font-size='14'"),
    svgText(0, 34, caption, ""),
    ...panels.map((panel, i) => draw(panel, HEADER + i * (PANEL + PANEL_GAP), end)),
    "</svg>",
    "",
  ].join("\n");
}

function panelsOf(samples: readonly Sample[], windows: readonly WindowReport[]): Panel[] {
  const series = (name: string, value: (sample: Sample) => number | undefined): Series => ({
    name,
    points: samples.flatMap((sample): [number, number][] => {
      const y = value(sample);
      return y === undefined ? [] : [[sample.second, y]];
    }),
  });
  const heaps = Math.max(0, ...samples.map(({ heapBytes }) => heapBytes.length));
  return [
    { title: "memory of the process (RSS), MiB", series: [series("RSS", ({ rssBytes }) => rssBytes / MIB)] },
    {
      title: "JavaScript heaps, MiB",
      series: Array.from({ length: heaps }, (_, i) =>
        series(i === heaps - 1 ? "gateway" : `actor ${i}`, ({ heapBytes }) =>
          heapBytes.length === heaps ? heapBytes[i]! / MIB : undefined,
        ),
      ),
    },
    {
      title: "handles and threads",
      series: [series("handles", ({ handles }) => handles), series("threads", ({ threads }) => threads)],
    },
    {
      title: "data directory, MiB",
      series: [
        series("all", ({ dataBytes }) => dataBytes / MIB),
        ...DATA_PARTS.map((part) => series(part, ({ dataPartBytes }) => dataPartBytes[part] / MIB)),
      ],
    },
    {
      title: "99th percentile of ten seconds, ms, from when a request was due",
      series: DRAWN.map((kind) => ({
        name: kind,
        points: windows.flatMap(({ second, latenciesMs }): [number, number][] => {
          const values = latenciesMs[kind];
          return values === undefined ? [] : [[second, quantile(values, 0.99)]];
        }),
      })),
    },
    { title: "load average of the machine", series: [series("1 minute", ({ loadAverage }) => loadAverage)] },
  ];
}

function draw({ title, series }: Panel, top: number, end: number): string {
  const most = Math.max(1e-9, ...series.flatMap(({ points }) => points.map(([, y]) => y)));
  const right = WIDTH - RIGHT;
  const x = (seconds: number): number => LEFT + ((right - LEFT) * seconds) / end;
  const y = (value: number): number => top + 18 + PANEL - (PANEL * value) / most;
  const parts = [
    svgText(0, top + 10, title, "font-weight='600'"),
    `<path d="M${LEFT} ${top + 18}V${top + 18 + PANEL}H${right}" fill="none" stroke="#94a3b8"/>`,
    svgText(LEFT - 6, top + 26, short(most), "text-anchor='end'"),
    svgText(LEFT - 6, top + 18 + PANEL, "0", "text-anchor='end'"),
    svgText(right, top + 34 + PANEL, `${(end / 60).toFixed(0)} min`, "text-anchor='end'"),
  ];
  for (const [i, { name, points }] of series.entries()) {
    const colour = COLOURS[i % COLOURS.length]!;
    const path = thinned(points, right - LEFT).map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`);
    parts.push(`<path d="M${path.join("L")}" fill="none" stroke="${colour}"/>`);
    const last = points.at(-1)?.[1] ?? 0;
    parts.push(svgText(right + 8, top + 30 + 15 * i, `${name}: ${short(last)} at the end`, `fill='${colour}'`));
  }
  return parts.join("\n");
}

/** No more points than there are pixels: of each group the greatest, so that no peak is lost. */
function thinned(points: Series["points"], pixels: number): Series["points"] {
  const group = Math.ceil(points.length / pixels);
  if (group <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / group) }, (_, i) =>
    points.slice(i * group, (i + 1) * group).reduce((most, point) => (point[1] > most[1] ? point : most)),
  );
}

function short(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
