/** The configuration in effect as text, for `check-config`. Called by the command line. */

import type { LoadedConfig } from "./load-config.js";
import { SETTINGS } from "./settings.js";

const HIDDEN = "********";

/** As TOML, each line with a comment that says where its value comes from; secrets are hidden. */
export function describeConfig(loaded: LoadedConfig): string {
  const lines: string[] = [];
  let section = "";
  for (const { key, value, source } of effectiveSettings(loaded)) {
    const cut = key.lastIndexOf(".");
    if (key.slice(0, cut) !== section) {
      section = key.slice(0, cut);
      lines.push(...(lines.length === 0 ? [] : [""]), `[${section}]`);
    }
    lines.push(`${`${key.slice(cut + 1)} = ${JSON.stringify(value)}`.padEnd(48)} # ${source}`);
  }
  return `${lines.join("\n")}\n`;
}

/** The same for programs. */
export function configAsJson(loaded: LoadedConfig): Readonly<Record<string, { value: unknown; source: string }>> {
  return Object.fromEntries(effectiveSettings(loaded).map(({ key, value, source }) => [key, { value, source }]));
}

interface EffectiveSetting {
  readonly key: string;
  /** Hidden where it is a secret. */
  readonly value: unknown;
  readonly source: string;
}

function effectiveSettings({ config, sources }: LoadedConfig): EffectiveSetting[] {
  return SETTINGS.map(({ key, path, secret }) => {
    const value = path.reduce<unknown>((table, name) => (table as Record<string, unknown>)[name], config);
    const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
    const shown = !secret || isEmpty ? value : Array.isArray(value) ? [HIDDEN] : HIDDEN;
    return { key, value: shown, source: String(sources.get(key)) };
  });
}
