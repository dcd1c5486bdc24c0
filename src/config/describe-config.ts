/** The configuration in effect as text, for `check-config`. Called by the command line. */

import type { LoadedConfig } from "./load-config.js";
import { SETTINGS } from "./settings.js";

const HIDDEN = "********";

/** As TOML, each line with a comment that says where its value comes from; secrets are hidden. */
export function describeConfig({ config, sources }: LoadedConfig): string {
  const lines: string[] = [];
  let section = "";
  for (const { key, path, secret } of SETTINGS) {
    const cut = key.lastIndexOf(".");
    if (key.slice(0, cut) !== section) {
      section = key.slice(0, cut);
      lines.push(...(lines.length === 0 ? [] : [""]), `[${section}]`);
    }
    const value = path.reduce<unknown>((table, name) => (table as Record<string, unknown>)[name], config);
    const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
    const shown = JSON.stringify(!secret || isEmpty ? value : Array.isArray(value) ? [HIDDEN] : HIDDEN);
    lines.push(`${`${key.slice(cut + 1)} = ${shown}`.padEnd(48)} # ${sources.get(key)}`);
  }
  return `${lines.join("\n")}\n`;
}
