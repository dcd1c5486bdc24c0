/** Reads what EXPLAIN gives: JSON of SQL, an indented text of Cypher. Pure. */
import type { Language } from "./split.js";

export interface PlanNode {
  readonly name: string;
  /** Conditions, keys, limits. */
  readonly details: readonly (readonly [name: string, value: string])[];
  readonly cost: number | null;
  readonly estimated: number | null;
  /** All that follows is only known after ANALYZE. Milliseconds, with those of its parts. */
  readonly ms: number | null;
  readonly rows: number | null;
  readonly loops: number | null;
  readonly kilobytes: number | null;
  readonly parts: readonly PlanNode[];
}

export interface Plan {
  readonly root: PlanNode;
  readonly ms: number | null;
  readonly kilobytes: number | null;
}

export function planOf(rows: readonly (readonly unknown[])[], language: Language): Plan | null {
  return language === "sql" ? planOfJson(rows[0]?.[0]) : planOfLines(rows.map(([line]) => String(line)));
}

type Json = Readonly<Record<string, unknown>>;

const NUMBERS = [
  ...["Total Cost", "Startup Cost", "Plan Rows", "Plan Width", "Actual Total Time", "Actual Startup Time"],
  ...["Actual Rows", "Actual Loops", "Peak Memory"],
];
const NO_DETAILS = new Set(["Node Type", "Plans", "Schema", "Scan Direction", "Relation Name", "Alias", ...NUMBERS]);

function planOfJson(value: unknown): Plan | null {
  const [explained] = (Array.isArray(value) ? value : []) as readonly Json[];
  if (explained?.Plan === undefined) return null;
  return {
    root: nodeOfJson(explained.Plan as Json),
    ms: numberIn(explained, "Execution Time"),
    kilobytes: numberIn(explained, "Peak Memory"),
  };
}

function numberIn(object: Json, name: string): number | null {
  const value = object[name];
  return typeof value === "number" ? value : null;
}

function nodeOfJson(node: Json): PlanNode {
  const table = node["Relation Name"];
  const alias = node.Alias;
  const on = table === undefined ? "" : ` on ${table}${alias === undefined || alias === table ? "" : ` ${alias}`}`;
  const details = Object.entries(node).filter(([name]) => !NO_DETAILS.has(name));
  return {
    name: `${node["Node Type"]}${on}`,
    details: details.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]),
    cost: numberIn(node, "Total Cost"),
    estimated: numberIn(node, "Plan Rows"),
    ms: numberIn(node, "Actual Total Time"),
    rows: numberIn(node, "Actual Rows"),
    loops: numberIn(node, "Actual Loops"),
    kilobytes: numberIn(node, "Peak Memory"),
    parts: ((node.Plans as readonly Json[] | undefined) ?? []).map(nodeOfJson),
  };
}

interface OpenNode {
  readonly depth: number;
  readonly node: PlanNode & { details: [string, string][]; parts: PlanNode[] };
}

function planOfLines(lines: readonly string[]): Plan | null {
  const open: OpenNode[] = [];
  let root: PlanNode | null = null;
  let [ms, kilobytes]: (number | null)[] = [null, null];
  for (const line of lines) {
    const total = /^(Peak Memory|Execution Time): ([\d.]+)/.exec(line);
    if (total !== null) {
      if (total[1] === "Peak Memory") kilobytes = Number(total[2]);
      else ms = Number(total[2]);
      continue;
    }
    const depth = line.length - line.replace(/^[\s>-]*/, "").length;
    const head = /^[\s>-]*(.*?) {2}\((cost=.*)\)$/.exec(line);
    if (head === null) {
      const [, name, value] = /^\s*([^:]+): (.*)$/.exec(line) ?? [];
      if (name !== undefined) open.at(-1)?.node.details.push([name, value!]);
      continue;
    }
    while (open.length > 0 && open.at(-1)!.depth >= depth) open.pop();
    const node = nodeOfLine(head[1]!, head[2]!);
    open.at(-1)?.node.parts.push(node);
    root ??= node;
    open.push({ depth, node });
  }
  return root === null ? null : { root, ms: ms ?? null, kilobytes: kilobytes ?? null };
}

function nodeOfLine(name: string, measures: string): OpenNode["node"] {
  const [planned = "", actual = ""] = measures.split("(actual");
  const read = (text: string, key: string): number | null => {
    const found = new RegExp(`${key}=([\\d.]+)`).exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  return {
    ...{ name, details: [], parts: [], cost: read(planned, "cost"), estimated: read(planned, "rows") },
    ...{ ms: read(actual, "time"), rows: read(actual, "rows"), loops: read(actual, "loops") },
    kilobytes: read(actual, "memory"),
  };
}

/** Milliseconds of a node without those of its parts; null without ANALYZE. */
export function ownMs(node: PlanNode): number | null {
  const total = totalMs(node);
  if (total === null) return null;
  return Math.max(0, total - node.parts.reduce((sum, part) => sum + (totalMs(part) ?? 0), 0));
}

function totalMs({ ms }: PlanNode): number | null {
  return ms;
}

/** How far the estimate is off: 1 is exact, 10 ten times too many or too few; null: not known. */
export function misjudgement({ estimated, rows }: PlanNode): number | null {
  if (estimated === null || rows === null) return null;
  const [a, b] = [Math.max(estimated, 1), Math.max(rows, 1)];
  return Math.max(a / b, b / a);
}
