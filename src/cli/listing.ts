/** Rows of a list as a table for people. */
import type { Told } from "./client-command.js";
import { formatted, textOf } from "./output-formats.js";

/** Shows these members of each item; `none` is said where there are no items. */
export function listed(data: unknown, items: readonly object[], members: readonly string[], none: string): Told {
  if (items.length === 0) return { data, lines: [none] };
  const rows = items.map((item) => members.map((member) => shown((item as Record<string, unknown>)[member])));
  return { data, lines: formatted({ columns: members, rows }, "table") };
}

/** The members of one thing, a line each. */
export function told(data: object): Told {
  const names = Object.keys(data);
  const width = Math.max(...names.map((name) => name.length));
  return { data, lines: Object.entries(data).map(([name, value]) => `${name.padEnd(width)}  ${textOf(shown(value))}`) };
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.join(", ");
  if (value === null || value === undefined) return "";
  return value;
}
