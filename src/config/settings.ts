/**
 * The list of every setting, derived from the schema: its key in TOML, its place in the `Config` value and its
 * environment variables. Called by the readers of files and of the environment; constant.
 */

import type Type from "typebox";
import { ConfigSchema, SECRET_KEYS } from "../protocol/config.js";

export interface Setting {
  /** As in TOML, with its sections: "query.ai_service.base_url". */
  readonly key: string;
  /** Property names in `Config`. */
  readonly path: readonly string[];
  readonly schema: Type.TSchema;
  /** TESSERA_<SECTION>_<KEY>, and a short name where there is one. */
  readonly variables: readonly string[];
  /** Its value is never printed. */
  readonly secret: boolean;
}

/** Short names that scripts rely on; they stay as they are. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  "server.host": "TESSERA_HOST",
  "server.port": "TESSERA_PORT",
  "data.dir": "TESSERA_DATA_DIR",
  "actors.count": "TESSERA_ACTORS",
  "auth.admin_password": "TESSERA_ADMIN_PASSWORD",
  "query.max_rows": "SQL_MAX_ROW_COUNT",
};

export const SETTINGS: readonly Setting[] = settingsOf(ConfigSchema, [], []);

export const SETTING_BY_KEY: ReadonlyMap<string, Setting> = new Map(SETTINGS.map((setting) => [setting.key, setting]));

/** Keys of all tables: "server", "server.cors", … */
export const SECTIONS: ReadonlySet<string> = new Set(SETTINGS.flatMap(({ key }) => parentsOf(key)));

/** What a setting's value may be, in words. */
export function allowedValues(schema: Type.TSchema): string {
  const { description, enum: values, type, minimum, maximum, items, minLength, maxLength } = schema as SchemaParts;
  if (description !== undefined) return description;
  if (values !== undefined) return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (type === "integer") return `a whole number from ${minimum} to ${maximum}`;
  if (type === "boolean") return "true or false";
  if (items !== undefined) return `a list of texts`;
  if (minLength !== undefined) return "a text that is not empty";
  return maxLength === undefined ? "a text" : `a text of at most ${maxLength} characters`;
}

/** The part of JSON Schema that the configuration's leaves use. */
interface SchemaParts {
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Type.TSchema>>;
}

function settingsOf(schema: Type.TSchema, keys: readonly string[], path: readonly string[]): Setting[] {
  const { properties } = schema as SchemaParts;
  if (properties === undefined) {
    const key = keys.join(".");
    const variable = `TESSERA_${keys.join("_").toUpperCase()}`;
    const short = SHORT_NAMES[key];
    const variables = short === undefined ? [variable] : [short, variable];
    return [{ key, path, schema, variables, secret: SECRET_KEYS.includes(key) }];
  }
  return Object.entries(properties).flatMap(([name, child]) =>
    settingsOf(child, [...keys, snakeCase(name)], [...path, name]),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function parentsOf(key: string): string[] {
  const parts = key.split(".");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
}
