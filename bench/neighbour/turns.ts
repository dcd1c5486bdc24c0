/** What watch-turns.ts wrote down of the server's threads. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The environment variable that names the file. */
export const TURNS_FILE = "NEIGHBOUR_TURNS_FILE";

export class WatchedTurns {
  private readonly file = join(mkdtempSync(join(tmpdir(), "tessera-turns-")), "turns");
  private read = 0;

  /** For the server that is to be watched. */
  get environment(): Record<string, string> {
    const watch = new URL("watch-turns.js", import.meta.url).pathname;
    return { [TURNS_FILE]: this.file, TESSERA_NODE_FLAGS: `--import ${watch} ${process.env.SERVER_FLAGS ?? ""}` };
  }

  /** The longest turn of each thread since this was asked last, such as "actor 12, gateway 30"; CPU milliseconds. */
  longest(): string {
    const text = existsSync(this.file) ? readFileSync(this.file, "latin1") : "";
    const longest = new Map<string, number>();
    for (const line of text.slice(this.read).split("\n").slice(0, -1)) {
      const [thread, ms] = line.split(" ") as [string, string];
      longest.set(thread, Math.max(longest.get(thread) ?? 0, Number(ms)));
    }
    this.read = text.length;
    return [...longest].map(([thread, ms]) => `${thread} ${ms}`).join(", ") || "short";
  }
}
