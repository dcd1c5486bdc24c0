/** Files of a server that is running: it removes some of them at any time. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files below a folder that were there throughout. */
export function filesIn(folder: string): string[] {
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

/** Those of the files below a folder whose bytes pass. */
export function filesWith(folder: string, passes: (bytes: Buffer) => boolean): string[] {
  return filesIn(folder).filter((path) => passes(bytesOf(path)));
}

/** Nothing for a file that has gone meanwhile. */
function bytesOf(path: string): Buffer {
  return unlessGone(() => readFileSync(path)) ?? Buffer.alloc(0);
}

/** A folder in it that goes while it is listed has it listed again. */
function namesIn(folder: string): string[] {
  for (;;) {
    const names = unlessGone(() => readdirSync(folder, { recursive: true, encoding: "utf8" }));
    if (names !== undefined) return names;
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  }
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
