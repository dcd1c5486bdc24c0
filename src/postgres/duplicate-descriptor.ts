/** dup(2): a second descriptor of a socket, which another thread may have. Node has no way to make one. */
import { createRequire } from "node:module";

type Dup = (descriptor: number) => number;

let dup: Dup | null | undefined;

/** Null: this system has none, or the process has no descriptor left. */
export function duplicate(descriptor: number): number | null {
  dup ??= load();
  const made = dup?.(descriptor) ?? -1;
  return made < 0 ? null : made;
}

function load(): Dup | null {
  if (process.platform === "win32") return null;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    return koffi.load(null).func("int dup(int)") as unknown as Dup;
  } catch {
    // No build of it for this system: connections stay with the gateway.
    return null;
  }
}
