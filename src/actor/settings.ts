/**
 * Run-time settings of a session, as SET and SHOW name them. Most exist only because PostgreSQL's clients send them;
 * each either takes effect or accepts just the value that is in force anyway.
 */
import { sqlError } from "../protocol/errors.js";
import type { BoundSet } from "../sql/bind/bound-statement.js";

interface Setting {
  readonly initial: string;
  /** Throws when the value is not possible; gives the canonical spelling. */
  readonly parse: (value: string, name: string) => string;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  timezone: { initial: "UTC", parse: timeZone },
  datestyle: { initial: "ISO, MDY", parse: onlyValue("ISO, MDY", /^iso(\s*,\s*mdy)?$/i) },
  intervalstyle: { initial: "postgres", parse: onlyValue("postgres") },
  client_encoding: { initial: "UTF8", parse: onlyValue("UTF8", /^utf-?8$/i) },
  server_encoding: { initial: "UTF8", parse: onlyValue("UTF8", /^utf-?8$/i) },
  standard_conforming_strings: { initial: "on", parse: onlyValue("on", /^(on|true|1|yes)$/i) },
  extra_float_digits: { initial: "1", parse: onlyValue("1", /^[0-3]$/) },
  client_min_messages: { initial: "notice", parse: (value) => value.toLowerCase() },
  application_name: { initial: "", parse: (value) => value },
  search_path: { initial: "public", parse: onlyValue("public", /^("?\$user"?\s*,\s*)?"?public"?$/) },
};

export class Settings {
  /** What was set; most sessions set nothing. */
  private values: Map<string, string> | null = null;

  get timeZone(): string {
    return this.values?.get("timezone") ?? "UTC";
  }

  set(bound: BoundSet): void {
    const name = bound.name.toLowerCase();
    const setting = find(name);
    this.values ??= new Map();
    if (bound.values === null) this.values.delete(name);
    else this.values.set(name, setting.parse(bound.values.join(", "), name));
  }

  show(name: string): string {
    const key = name.toLowerCase();
    return this.values?.get(key) ?? find(key).initial;
  }
}

function find(name: string): Setting {
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (setting === undefined) {
    throw sqlError("42704", `unrecognized configuration parameter "${name}"`, {
      hint: `Known: ${Object.keys(SETTINGS).join(", ")}.`,
    });
  }
  return setting;
}

function onlyValue(value: string, accepted: RegExp = new RegExp(`^${value}$`, "i")): Setting["parse"] {
  return (text, name) => {
    if (accepted.test(text)) return value;
    throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
      hint: `Only ${value} is supported.`,
    });
  };
}

function timeZone(value: string): string {
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return value;
  } catch {
    throw sqlError("22023", `invalid value for parameter "TimeZone": "${value}"`);
  }
}
