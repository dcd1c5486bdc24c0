/** What bench/growth found, as Markdown: times and ratios by size, costs of a row over sizes, memory and disk. */

import type { Machine } from "../report/machine.js";
import { machineLine } from "../report/markdown.js";
import { geometricMean } from "../statistics.js";
import type { SideResult, Step } from "./run-side.js";

export interface SizeResult {
  readonly rows: number;
  readonly csvBytes: number;
  /** Tessera first. */
  readonly sides: readonly SideResult[];
  /** Steps whose answers are not Tessera's. */
  readonly differences: readonly string[];
}

export interface GrowthResult {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly machine: Machine;
  readonly loadAverageAfter: number;
  readonly waitSeconds: number;
  readonly sizes: readonly SizeResult[];
}

const MIB = 2 ** 20;
/** The sides that ratios are told to. */
const COMPARED = ["postgres", "duckdb-1"];

export function markdown(result: GrowthResult): string {
  const { date, machine, sizes, waitSeconds, loadAverageAfter } = result;
  return [
    `# Growth, ${date}`,
    "",
    `${machineLine(machine)} Load average when the run began: ${machine.loadAverage.toFixed(1)}, when it ended: ` +
      `${loadAverageAfter.toFixed(1)}. ${waitSeconds} s between the import and the stop. ` +
      `${sizes[0]?.sides.map(({ name, version }) => `${name}: ${version}`).join("; ")}.`,
    "",
    ...sizes.flatMap(sizeSection),
    "## Microseconds a row",
    "",
    "Of rows that a step is about: all, or the tenth that is changed.",
    "",
    ...costTable(sizes),
  ].join("\n");
}

function sizeSection({ rows, sides, csvBytes, differences }: SizeResult): string[] {
  const tessera = sides[0]!;
  const others = COMPARED.map((id) => sides.find((side) => side.id === id)).filter((side) => side !== undefined);
  const names = sides.map(({ name }) => name);
  return [
    `## ${count(rows)} rows (${megabytes(csvBytes)} MiB of CSV)`,
    "",
    row(["milliseconds", ...names, ...others.map(({ name }) => `÷ ${name}`), "neighbour p50 / p99 / max ms"]),
    alignment(1 + sides.length + others.length + 1),
    ...tessera.steps.map((step, i) =>
      row([
        step.name,
        ...sides.map((side) => (step.kind === "idle" ? "" : milliseconds(stepOf(side, step)?.milliseconds))),
        ...others.map((other) => ratio(step, stepOf(other, step))),
        neighbour(tessera.steps[i]!),
      ]),
    ),
    ...means(tessera, sides, others),
    "",
    row(["MiB", ...names]),
    alignment(1 + sides.length),
    ...Object.keys(tessera.memory).map((name) => row([name, ...sides.map(({ memory }) => megabytes(memory[name]!))])),
    row(["disk after the import", ...sides.map(({ importedBytes }) => megabytes(importedBytes))]),
    row(["disk after the wait", ...sides.map(({ diskBytes }) => megabytes(diskBytes))]),
    "",
    row(["CPU milliseconds", ...names]),
    alignment(1 + sides.length),
    ...tessera.steps
      .filter(({ cpuMilliseconds }) => cpuMilliseconds !== null)
      .map((step) => row([step.name, ...sides.map((side) => cpu(stepOf(side, step)))])),
    "",
    ...sides.map(
      ({ name, pageCache, loadAverage }) =>
        `- ${name}: ${pageCacheWords(pageCache)}; load average at its end ${loadAverage.toFixed(1)}.`,
    ),
    ...differences.map((text) => `- **Different answers**: ${text}`),
    ...sides.flatMap(({ name, steps }) =>
      steps.flatMap((step) => (step.error === null ? [] : [`- ${name}, ${step.name}: ${step.error}`])),
    ),
    "",
  ];
}

/** Of the steps that failed nowhere. */
function means(tessera: SideResult, sides: readonly SideResult[], others: readonly SideResult[]): string[] {
  return (["first read", "second read", "write"] as const).map((kind) => {
    const steps = tessera.steps.filter(
      (step) => step.kind === kind && sides.every((side) => stepOf(side, step)?.error === null),
    );
    const meanOf = (side: SideResult): number => geometricMean(steps.map((step) => stepOf(side, step)!.milliseconds));
    return row([
      `geometric mean of ${steps.length} ${kind}s`,
      ...sides.map((side) => milliseconds(meanOf(side))),
      ...others.map((other) => (meanOf(tessera) / meanOf(other)).toFixed(2)),
      "",
    ]);
  });
}

export function stepOf({ steps }: SideResult, { name, kind }: Pick<Step, "name" | "kind">): Step | undefined {
  return steps.find((step) => step.name === name && step.kind === kind);
}

/** Of a step in microseconds; not a number when it failed. */
export function costOfRow({ milliseconds: time, rows }: Step): number {
  return (1000 * time) / rows;
}

function costTable(sizes: readonly SizeResult[]): string[] {
  const [first] = sizes;
  if (first === undefined) return [];
  const heads = first.sides.flatMap(({ name }) => sizes.map(({ rows }) => `${name} ${count(rows)}`));
  return [
    row(["", ...heads]),
    alignment(1 + heads.length),
    ...first.sides[0]!.steps.filter(isCosted).map((step) =>
      row([
        step.name,
        ...first.sides.flatMap(({ id }) =>
          sizes.map(({ sides }) => {
            const side = sides.find((one) => one.id === id);
            const at = side === undefined ? undefined : stepOf(side, step);
            return at === undefined ? "" : significant(costOfRow(at));
          }),
        ),
      ]),
    ),
  ];
}

/** A cost of a row says something of it: waits do not, and neither do checks. */
export function isCosted({ name, kind }: Step): boolean {
  return (kind !== "other" && kind !== "idle") || /^(import|start)/.test(name);
}

function neighbour({ neighbour: waits }: Step): string {
  if (waits === null) return "";
  const { p50Ms, p99Ms, maxMs, requests } = waits;
  return `${[p50Ms, p99Ms, maxMs].map(significant).join(" / ")} (${requests})`;
}

function ratio(a: Step, b: Step | undefined): string {
  return b === undefined || a.kind === "idle" || Number.isNaN(a.milliseconds / b.milliseconds)
    ? ""
    : significant(a.milliseconds / b.milliseconds);
}

function cpu(step: Step | undefined): string {
  return step?.cpuMilliseconds == null ? "" : count(step.cpuMilliseconds);
}

function pageCacheWords(pageCache: SideResult["pageCache"]): string {
  if (pageCache === null) return "its files could not be taken out of the page cache, so cold is warm";
  return `${megabytes(pageCache.of)} MiB of files were taken out of the page cache, ${megabytes(pageCache.left)} MiB stayed`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function alignment(columns: number): string {
  return `|---|${"--:|".repeat(columns - 1)}`;
}

function milliseconds(value: number | undefined): string {
  if (value === undefined) return "";
  return Number.isNaN(value) ? "failed" : significant(value);
}

function megabytes(bytes: number): string {
  return significant(bytes / MIB);
}

/** Three digits, or all before the point. */
export function significant(value: number): string {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return digits === 0 ? count(value) : value.toFixed(Math.min(digits, 4));
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
