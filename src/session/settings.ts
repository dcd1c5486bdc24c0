/**
 * Run-time settings of a session, as SET and SHOW name them. Most exist only because PostgreSQL's clients send them;
 * each takes effect, accepts only the value that is in force anyway, or is listed as ignored. Names with a dot are the
 * client's own (`app.user_id`) and hold any text. A transaction's changes are undone when it rolls back.
 */

import { meant } from "../catalog/did-you-mean.js";
import { sqlError } from "../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";
import { SETTING_UNITS, shownQuantity } from "../protocol/setting-units.js";
import type { BoundSet } from "../sql/bind/bound-statement.js";
import type { IsolationLevel } from "../sql/parse/ast.js";
import { regConfigFromText } from "../values/text-search-configs.js";
import type { TextStyle } from "../values/text-style.js";
import { settableZone } from "../values/time-zone.js";
import { dateStyle, intervalStyle, textStyleOf } from "./date-style.js";
import { duration, durationMs } from "./duration-setting.js";
import { FIXED_SETTINGS, OPERATORS_SETTINGS } from "./fixed-settings.js";
import { IGNORED_SETTINGS } from "./ignored-settings.js";
import { type GivenModes, NO_MODES, TransactionModes } from "./transaction-modes.js";

interface Setting {
  readonly initial: string;
  /** Throws when the value is not possible; gives the canonical spelling. */
  readonly parse: (value: string, name: string, current: string) => string;
}

const DEBUG_LEVELS = ["debug5", "debug4", "debug3", "debug2", "debug1", "debug"];
const MESSAGE_LEVELS = [...DEBUG_LEVELS, "log", "info", "notice", "warning", "error", "fatal", "panic"];

const SETTINGS: Readonly<Record<string, Setting>> = {
  // What dumps set: it is so here anyway, and cannot be otherwise.
  check_function_bodies: { initial: "on", parse: onlyValue("on", /^(on|true|off|false)$/i) },
  default_with_oids: { initial: "off", parse: onlyValue("off", /^(?:off|false|no|0)$/i) },
  default_table_access_method: { initial: "heap", parse: onlyValue("heap") },
  default_tablespace: { initial: "", parse: onlyValue("") },
  idle_in_transaction_session_timeout: { initial: "0", parse: duration },
  idle_session_timeout: { initial: "0", parse: duration },
  lock_timeout: { initial: "0", parse: duration },
  row_security: { initial: "on", parse: onOrOff },
  statement_timeout: { initial: "0", parse: duration },
  transaction_timeout: { initial: "0", parse: onlyValue("0") },
  synchronize_seqscans: { initial: "off", parse: onlyValue("off") },
  xmloption: { initial: "content", parse: onlyValue("content") },
  application_name: { initial: "", parse: (value) => value },
  client_encoding: { initial: "UTF8", parse: onlyValue("UTF8", /^'?(utf-?8|unicode|sql_ascii)'?$/i) },
  bytea_output: { initial: "hex", parse: oneOf("hex", "escape") },
  client_min_messages: { initial: "notice", parse: oneOf(...MESSAGE_LEVELS) },
  default_text_search_config: { initial: "pg_catalog.english", parse: textSearchConfig },
  default_transaction_deferrable: { initial: "off", parse: onOrOff },
  default_transaction_isolation: { initial: "serializable", parse: isolationLevel },
  default_transaction_read_only: { initial: "off", parse: onOrOff },
  datestyle: { initial: "ISO, MDY", parse: dateStyle },
  extra_float_digits: { initial: "1", parse: wholeNumber(-15, 3) },
  // A search here goes on until it has the rows that LIMIT wants, whatever the next ones say.
  "hnsw.ef_search": { initial: "64", parse: wholeNumber(1, 16_384) },
  "hnsw.iterative_scan": { initial: "off", parse: oneOf("off", "relaxed_order", "strict_order") },
  "hnsw.max_scan_tuples": { initial: "20000", parse: wholeNumber(1, 2_147_483_647) },
  "hnsw.scan_mem_multiplier": { initial: "1", parse: numberWithin(1, 1000) },
  "ivfflat.iterative_scan": { initial: "off", parse: oneOf("off", "relaxed_order") },
  "ivfflat.max_probes": { initial: "32768", parse: wholeNumber(1, 32_768) },
  "ivfflat.probes": { initial: "1", parse: wholeNumber(1, 32_768) },
  intervalstyle: { initial: "postgres", parse: intervalStyle },
  password_encryption: { initial: "scram-sha-256", parse: onlyValue("scram-sha-256") },
  "pg_trgm.similarity_threshold": { initial: "0.3", parse: numberWithin(0, 1) },
  "pg_trgm.strict_word_similarity_threshold": { initial: "0.5", parse: numberWithin(0, 1) },
  "pg_trgm.word_similarity_threshold": { initial: "0.6", parse: numberWithin(0, 1) },
  role: { initial: "none", parse: (value) => value },
  search_path: { initial: "public", parse: (value) => searchPathText(parseSearchPath(value)) },
  session_authorization: { initial: "", parse: (value) => value },
  session_replication_role: { initial: "origin", parse: oneOf("origin", "replica", "local") },
  // Facts that clients ask for.
  ...Object.fromEntries(Object.entries(FIXED_SETTINGS).map(([name, initial]) => [name, { initial, parse: readOnly }])),
  is_superuser: { initial: "off", parse: readOnly },
  max_connections: { initial: "", parse: readOnly },
  max_identifier_length: { initial: String(IDENTIFIER_BYTES_MAX), parse: readOnly },
  standard_conforming_strings: { initial: "on", parse: onlyValue("on", /^(on|true|1|yes)$/i) },
  timezone: { initial: "UTC", parse: timeZone },
  transaction_deferrable: { initial: "off", parse: onOrOff },
  transaction_isolation: { initial: "serializable", parse: isolationLevel },
  transaction_read_only: { initial: "off", parse: onOrOff },
};

/** What was set at one moment. */
export interface SettingsMark {
  readonly values: ReadonlyMap<string, string> | null;
  readonly local: ReadonlyMap<string, string> | null;
}

export const REPLICATION_ROLE = "session_replication_role";
const PLAIN_PATH: readonly string[] = ["public"];

export class Settings {
  /** What was set; most sessions set nothing. */
  private values: Map<string, string> | null = null;
  /** SET LOCAL: until the transaction ends. */
  private local: Map<string, string> | null = null;
  private beforeTransaction: Map<string, string> | null = null;
  private path: readonly string[] = PLAIN_PATH;
  private textStyle: TextStyle | undefined;
  /** What the session began with (ALTER ROLE … SET), and RESET goes back to; most begin with nothing. */
  private starting: Map<string, string> | null = null;
  /** What statement_timeout says; 0: nothing. */
  statementTimeoutMs = 0;
  /** Another one than before: settings may have changed since. */
  version = 0;
  readonly modes: TransactionModes;
  /** The session's user administers the installation. */
  isSuperuser = false;

  constructor(
    isolation: IsolationLevel,
    /** Of the server, as its configuration bounds them. */
    private readonly connectionsMax: number,
    private readonly user = "",
    /** Of the issuer that the session's user is of, as JSON; null: there is none. */
    private readonly claims: string | null = null,
  ) {
    this.modes = new TransactionModes(isolation);
  }

  get timeZone(): string {
    return this.read("timezone") ?? "UTC";
  }

  /** DateStyle, IntervalStyle, bytea_output and extra_float_digits; undefined: ISO, postgres, hex and above 0. */
  get style(): TextStyle | undefined {
    return this.textStyle;
  }

  /** What SET ROLE says; null: nothing. */
  get role(): string | null {
    const name = this.read("role") ?? "none";
    return name === "none" ? null : name;
  }

  /** What session_replication_role says. */
  get isReplica(): boolean {
    return this.read(REPLICATION_ROLE) === "replica";
  }

  /** False: what policies would filter or check is refused. */
  get rowSecurity(): boolean {
    return this.read("row_security") !== "off";
  }

  /** What SET SESSION AUTHORIZATION says; null: nothing. */
  get sessionAuthorization(): string | null {
    return this.read("session_authorization") ?? null;
  }

  /** The schemas of search_path, as written. */
  get searchPath(): readonly string[] {
    return this.path;
  }

  private read(name: string): string | undefined {
    const { local, values, starting } = this;
    if (local === null && values === null && starting === null) return undefined;
    return local?.get(name) ?? values?.get(name) ?? starting?.get(name);
  }

  /** What the session begins with, in place of the usual value. Throws as SET does. */
  startWith(name: string, text: string): void {
    const value = this.checked(name, text);
    this.starting ??= new Map();
    this.starting.set(name, value);
    this.refresh();
  }

  /** The value as SHOW would print it. Throws 42704, 22023, 55P02 for what no session can begin with. */
  checked(name: string, text: string): string {
    if (isOfToken(name) || modeOf(name, text) !== null) return readOnly("", name);
    return find(name).parse(text, name, this.initial(name));
  }

  set(bound: Pick<BoundSet, "name" | "values" | "local">): void {
    const { values } = bound;
    if (bound.name === "all" && values === null) {
      const { role, sessionAuthorization } = this;
      this.reset();
      // RESET ALL leaves who the session is.
      if (sessionAuthorization !== null) this.setText("session_authorization", sessionAuthorization, false);
      if (role !== null) this.setText("role", role, false);
      return;
    }
    // Another session user begins as itself.
    if (bound.name.toLowerCase() === "session_authorization") this.setText("role", "none", bound.local);
    this.setText(bound.name, values === null ? null : settingText(bound.name, values), bound.local);
  }

  /** Sets from text as set_config and SET have it; null: back to the default. Answers with the new value. */
  setText(name: string, text: string | null, local: boolean): string {
    const key = name.toLowerCase();
    if (isOfToken(key)) return readOnly("", key);
    const { parse } = find(key);
    const value = text === null ? this.initial(key) : parse(text, key, this.read(key) ?? this.initial(key));
    if (this.setMode(key, value)) return value;
    if (local) {
      this.local ??= new Map();
      this.local.set(key, value);
    } else {
      this.local?.delete(key);
      this.values ??= new Map();
      if (text === null) this.values.delete(key);
      else this.values.set(key, value);
    }
    this.refresh();
    return value;
  }

  /** The modes of the open transaction are not kept here. */
  private setMode(key: string, value: string): boolean {
    const given = modeOf(key, value);
    if (given !== null) this.modes.changeIfOpen({ ...NO_MODES, ...given });
    return given !== null;
  }

  private initial(key: string): string {
    switch (key) {
      case "transaction_isolation":
        return this.modes.isolation;
      case "transaction_read_only":
        return this.modes.readOnly ? "on" : "off";
      case "transaction_deferrable":
        return this.modes.deferrable ? "on" : "off";
      case "default_transaction_isolation":
        return this.starting?.get(key) ?? this.modes.initial;
      case "session_authorization":
        return this.user;
      case "is_superuser":
        return this.isSuperuser ? "on" : "off";
      case "max_connections":
        return String(this.connectionsMax);
      default:
        return this.starting?.get(key) ?? find(key).initial;
    }
  }

  /** SET SESSION CHARACTERISTICS. */
  setDefaults({ isolation, readOnly, deferrable }: GivenModes): void {
    const set = (name: string, value: string) => this.setText(`default_transaction_${name}`, value, false);
    if (isolation !== null) set("isolation", isolation);
    if (readOnly !== null) set("read_only", readOnly ? "on" : "off");
    if (deferrable !== null) set("deferrable", deferrable ? "on" : "off");
  }

  show(name: string): string {
    const key = name.toLowerCase();
    if (isOfToken(key)) {
      const claims = this.find(key);
      if (claims === null) throw unrecognized(name);
      return claims;
    }
    const value = this.read(key);
    if (value !== undefined) return value;
    if (key.includes(".") && !Object.hasOwn(SETTINGS, key)) throw unrecognized(name);
    return this.initial(key);
  }

  /** The value, or null when there is no such setting. */
  find(name: string): string | null {
    const key = name.toLowerCase();
    if (isOfToken(key)) return key === CLAIMS ? this.claims : null;
    const value = this.given(key);
    const isKnown = OPERATORS_SETTINGS.has(key) || Object.hasOwn(SETTINGS, key) || Object.hasOwn(IGNORED_SETTINGS, key);
    return value ?? (isKnown ? this.initial(key) : null);
  }

  /** The value that SET has given it, or that the session began with; null: none. `name` in lower case. */
  given(name: string): string | null {
    return this.read(name) ?? null;
  }

  /** All settings by name. */
  all(): readonly (readonly [name: string, value: string])[] {
    const names = new Set([
      ...Object.keys({ ...SETTINGS, ...IGNORED_SETTINGS }),
      ...(this.starting?.keys() ?? []),
      ...(this.values?.keys() ?? []),
      ...(this.local?.keys() ?? []),
    ]);
    return [...names].sort().map((name) => [name, this.show(name)] as const);
  }

  reset(): void {
    this.values = null;
    this.local = null;
    this.refresh();
  }

  /** A transaction begins. */
  mark(): void {
    this.beforeTransaction = this.values === null ? null : new Map(this.values);
  }

  /** The transaction ended; `undo` when it rolled back. */
  settle(undo: boolean): void {
    if (this.local === null && !undo) {
      this.beforeTransaction = null;
      return;
    }
    if (undo) this.values = this.beforeTransaction;
    this.beforeTransaction = null;
    this.local = null;
    this.refresh();
  }

  /** A statement has ended outside of transaction blocks: so has its transaction. */
  endStatement(): void {
    if (this.local === null) return;
    this.local = null;
    this.refresh();
  }

  /** For a savepoint. */
  current(): SettingsMark {
    return { values: this.values && new Map(this.values), local: this.local && new Map(this.local) };
  }

  /** A savepoint was rolled back to, perhaps not for the last time. */
  restore({ values, local }: SettingsMark): void {
    this.values = values && new Map(values);
    this.local = local && new Map(local);
    this.refresh();
  }

  private refresh(): void {
    this.version++;
    const read = (name: string) => this.read(name);
    this.modes.defaults = {
      isolation: (read("default_transaction_isolation") as IsolationLevel | undefined) ?? this.modes.initial,
      readOnly: read("default_transaction_read_only") === "on",
      deferrable: read("default_transaction_deferrable") === "on",
    };
    this.statementTimeoutMs = durationMs(read("statement_timeout") ?? "0");
    const floatDigits = read("extra_float_digits");
    this.textStyle = textStyleOf(read("datestyle"), read("intervalstyle"), read("bytea_output"), floatDigits);
    const text = read("search_path");
    this.path = text === undefined ? PLAIN_PATH : parseSearchPath(text);
  }
}

function modeOf(key: string, value: string): Partial<GivenModes> | null {
  switch (key) {
    case "transaction_isolation":
      return { isolation: value as IsolationLevel };
    case "transaction_read_only":
      return { readOnly: value === "on" };
    case "transaction_deferrable":
      return { deferrable: value === "on" };
    default:
      return null;
  }
}

/** What the issuer says of the user. */
const CLAIMS = "request.jwt.claims";

/** Policies trust what comes from a token, so no statement sets it. */
function isOfToken(key: string): boolean {
  return key.startsWith("request.jwt.");
}

function find(name: string): Setting {
  if (OPERATORS_SETTINGS.has(name)) {
    throw sqlError("42501", `must be superuser or have privileges of pg_read_all_settings to examine "${name}"`);
  }
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (setting !== undefined) return setting;
  const initial = Object.hasOwn(IGNORED_SETTINGS, name) ? IGNORED_SETTINGS[name] : undefined;
  if (initial !== undefined) return { initial, parse: ignoredParse(name, initial) };
  if (/^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$/.test(name)) return { initial: "", parse: (value) => value };
  throw unrecognized(name);
}

/** Others than on and off, too. */
const WORDS = new Set(["force_parallel_mode", "synchronous_commit", "wal_compression"]);

function ignoredParse(name: string, initial: string): Setting["parse"] {
  if (Object.hasOwn(SETTING_UNITS, name)) return (text) => shownQuantity(name, text);
  return /^(?:on|off)$/.test(initial) && !WORDS.has(name) ? onOrOff : (value) => value;
}

function unrecognized(name: string): Error {
  return sqlError("42704", `unrecognized configuration parameter "${name}"`, {
    hint: "SHOW ALL lists the settings.",
    ...meant(name, Object.keys({ ...SETTINGS, ...IGNORED_SETTINGS })),
  });
}

function readOnly(_value: string, name: string): string {
  throw sqlError("55P02", `parameter "${name}" cannot be changed`);
}

function onlyValue(value: string, accepted: RegExp = new RegExp(`^${value}$`, "i")): Setting["parse"] {
  return (text, name) => {
    if (accepted.test(text)) return value;
    throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
      hint: `Only ${value} is supported.`,
    });
  };
}

function wholeNumber(least: number, most: number): Setting["parse"] {
  return (text, name) => {
    const value = /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value)) throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`);
    if (value >= least && value <= most) return String(value);
    throw sqlError("22023", `${value} is outside the valid range for parameter "${name}" (${least} .. ${most})`);
  };
}

function numberWithin(least: number, most: number): Setting["parse"] {
  return (text, name) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`);
    if (value >= least && value <= most) return String(value);
    throw sqlError("22023", `${value} is outside the valid range for parameter "${name}" (${least} .. ${most})`);
  };
}

function oneOf(...words: readonly string[]): Setting["parse"] {
  return (text, name) => {
    const word = text.trim().toLowerCase();
    if (words.includes(word)) return word;
    throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
      hint: `Available values: ${words.join(", ")}.`,
    });
  };
}

/** A truth value as PostgreSQL takes it; prefixes of the words are enough. */
function onOrOff(text: string, name: string): string {
  const value = text.trim().toLowerCase();
  const begins = (word: string) => value !== "" && word.startsWith(value);
  if (value === "on" || value === "1" || begins("true") || begins("yes")) return "on";
  if (begins("off") && value.length > 1) return "off";
  if (value === "0" || begins("false") || begins("no")) return "off";
  throw sqlError("22023", `parameter "${name}" requires a Boolean value`);
}

function isolationLevel(text: string, name: string): string {
  const value = text.trim().toLowerCase();
  if (/^(?:serializable|repeatable read|read (?:un)?committed)$/.test(value)) return value;
  throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
    hint: "Available values: serializable, repeatable read, read committed, read uncommitted.",
  });
}

function textSearchConfig(value: string, name: string): string {
  try {
    return `pg_catalog.${regConfigFromText(value)}`;
  } catch {
    throw sqlError("22023", `invalid value for parameter "${name}": "${value}"`);
  }
}

function timeZone(value: string): string {
  const zone = settableZone(value);
  if (zone === null) throw sqlError("22023", `invalid value for parameter "TimeZone": "${value}"`);
  return zone;
}

/** The values of SET as one: it gives each schema as a value of its own. */
export function settingText(name: string, values: readonly (string | number | boolean)[]): string {
  return name.toLowerCase() === "search_path" ? searchPathText(values.map(String)) : values.join(", ");
}

/** The list as SHOW prints it. */
function searchPathText(schemas: readonly string[]): string {
  return schemas.map((name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)).join(", ");
}

/** Names between commas; quoted ones keep their case. Throws 22023. */
function parseSearchPath(text: string): string[] {
  if (text.trim() === "") return [];
  const names: string[] = [];
  const name = /\s*(?:"((?:[^"]|"")*)"|([^",\s]+))\s*(,|$)/y;
  while (name.lastIndex < text.length) {
    const match = name.exec(text);
    if (match === null) {
      throw sqlError("22023", `invalid value for parameter "search_path": "${text}"`, {
        detail: "List syntax is invalid.",
      });
    }
    names.push(match[1]?.replaceAll('""', '"') ?? match[2]!.toLowerCase());
  }
  return names;
}
