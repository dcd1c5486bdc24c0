/** The version of this build, as package.json has it. */
import { readFileSync } from "node:fs";
import { PROJECT } from "./places.js";

const packageJson = JSON.parse(readFileSync(new URL("package.json", PROJECT), "utf8")) as {
  readonly version: string;
};

export const VERSION = packageJson.version;
