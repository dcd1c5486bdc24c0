/** The configuration in effect as text, for `check-config`. Called by the command line. */

import type { LoadedConfig } from "./load-config.js";
import { SETTINGS } from "./settings.js";

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
    const shown = secret && value !== "" ? '"********"' : JSON.stringify(value);
    lines.push(`${`${key.slice(cut + 1)} = ${shown}`.padEnd(48)} # ${sources.get(key)}`);
  }
  return `${lines.join("\n")}\n`;
}
