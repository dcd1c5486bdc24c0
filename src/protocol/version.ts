/** The version of this build, as package.json has it. */
import { readFileSync } from "node:fs";

const packageJson = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

export const VERSION = packageJson.version;
