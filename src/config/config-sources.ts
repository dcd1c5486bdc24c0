/**
 * The sources of settings: TOML files, environment variables, the command line. Each reader returns the values it
 * found with their places, and reports what it cannot assign as problems. Called by load-config.ts.
 */

import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { didYouMean } from "./config-error.js";
import { SECTIONS, SETTING_BY_KEY, SETTINGS, type Setting } from "./settings.js";

/** A value before it is checked, and where it stands ("server.toml:3", "TESSERA_PORT", "default"). */
export interface Sourced {
  readonly value: unknown;
  readonly source: string;
}

/** By key. */
export type Values = Map<string, Sourced>;

/** `label` is used in messages: the file's name, or "default" for the one that comes with the package. */
export function readToml(file: string, label: string, problems: string[]): Values {
  const values: Values = new Map();
  let text: string;
  let tables: Record<string, unknown>;
  try {
    text = readFileSync(file, "utf8");
    tables = parse(text);
  } catch (error) {
    problems.push(tomlProblem(error, label));
    return values;
  }
  const lines = linesOfKeys(text);
  const place = (key: string) => {
    const line = lines.get(key);
    return label === "default" || line === undefined ? label : `${label}:${line}`;
  };
  const walk = (table: Record<string, unknown>, prefix: string) => {
    for (const [name, value] of Object.entries(table)) {
      const key = prefix === "" ? name : `${prefix}.${name}`;
      if (SETTING_BY_KEY.has(key)) values.set(key, { value, source: place(key) });
      else if (!SECTIONS.has(key)) problems.push(`${place(key)}: ${unknownKey(key, name, prefix)}`);
      else if (isTable(value)) walk(value, key);
      else problems.push(`${place(key)}: ${key} is a section; write [${key}] and its keys below it`);
    }
  };
  walk(tables, "");
  return values;
}

/** Variables that begin with TESSERA_, and the short names. An empty one counts as not set. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>, problems: string[]): Values {
  const values: Values = new Map();
  const known = new Set(SETTINGS.flatMap(({ variables }) => variables));
  for (const name of Object.keys(env)) {
    if (!name.startsWith("TESSERA_") || name === CONFIG_FILE_VARIABLE || known.has(name)) continue;
    if (name.startsWith(CLIENT_VARIABLES)) continue;
    problems.push(`${name}: this variable does not exist${didYouMean(name, [...known, CONFIG_FILE_VARIABLE])}`);
  }
  for (const setting of SETTINGS) {
    const [first, second] = setting.variables.filter((name) => env[name]);
    if (first === undefined) continue;
    if (second !== undefined && env[first] !== env[second]) {
      problems.push(`${first} and ${second} both set ${setting.key}, to different values; keep one`);
    }
    values.set(setting.key, { value: fromText(setting, env[first]!), source: first });
  }
  return values;
}

/** Of commands that talk to a server (cli/). */
const CLIENT_VARIABLES = "TESSERA_CLIENT_";

/** Names the user's configuration file. */
export const CONFIG_FILE_VARIABLE = "TESSERA_CONFIG";

/** Overrides by key, as texts, from options of the command line. */
export function readOverrides(overrides: Readonly<Record<string, string>>, problems: string[]): Values {
  const values: Values = new Map();
  for (const [key, text] of Object.entries(overrides)) {
    const setting = SETTING_BY_KEY.get(key);
    if (setting === undefined) problems.push(`command line: ${unknownKey(key, key, "")}`);
    else values.set(key, { value: fromText(setting, text), source: "command line" });
  }
  return values;
}

/**
 * The value of a text. A text that is not a value of the type stays a text, and the check against the schema reports
 * it.
 */
function fromText(setting: Setting, text: string): unknown {
  const { type } = setting.schema as { readonly type?: string };
  if (type === "integer") return /^[+-]?\d[\d_]*$/.test(text) ? Number(text.replaceAll("_", "")) : text;
  if (type === "number") return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean") return TEXTS_OF_BOOLEANS.get(text.toLowerCase()) ?? text;
  if (type === "array" && isOfTables(setting)) return jsonOf(text);
  if (type === "array") {
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
  return text;
}

/** A list of tables, [[such.ones]]. */
export function isOfTables({ schema }: Setting): boolean {
  const { items } = schema as { readonly items?: { readonly type?: string } };
  return items?.type === "object";
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const TEXTS_OF_BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["on", true],
  ["false", false],
  ["0", false],
  ["off", false],
]);

function unknownKey(key: string, name: string, section: string): string {
  const siblings = [...SETTING_BY_KEY.keys(), ...SECTIONS].filter(
    (other) =>
      other.startsWith(section === "" ? "" : `${section}.`) && other.split(".").length === key.split(".").length,
  );
  const near = didYouMean(key, siblings);
  // A key in the wrong section is found by its last part.
  const elsewhere = [...SETTING_BY_KEY.keys()].find((other) => other.endsWith(`.${name}`));
  const hint = near !== "" || elsewhere === undefined ? near : `; did you mean ${elsewhere}?`;
  return `there is no key ${key}${hint}`;
}

function tomlProblem(error: unknown, label: string): string {
  if (error instanceof TomlError) {
    const reason = error.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    return `${label}:${error.line}:${error.column}: not valid TOML: ${reason}`;
  }
  return `${label}: cannot be read: ${(error as Error).message}`;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The line of each key and table header, as far as they stand at the beginning of a line. */
function linesOfKeys(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  let section = "";
  text.split("\n").forEach((line, index) => {
    const header = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line);
    const assigned = /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line);
    let key: string;
    if (header !== null) {
      section = plainKey(header[1]!);
      key = section;
    } else if (assigned !== null) {
      key = section === "" ? plainKey(assigned[1]!) : `${section}.${plainKey(assigned[1]!)}`;
    } else {
      return;
    }
    if (!lines.has(key)) lines.set(key, index + 1);
  });
  return lines;
}

function plainKey(key: string): string {
  return key
    .split(".")
    .map((part) => part.trim().replaceAll(/["']/g, ""))
    .join(".");
}
