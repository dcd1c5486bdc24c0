/** Which entries a branch has of its own. Owned by layered-engine.ts. */
import type { Engine } from "./engine.js";
import { hiddenRange, readBesideKey } from "./history-keys.js";
import { keyAfter, prefixRange, tenantPrefix } from "./keys.js";

/** See LayeredEngine.changedKeys. */
export function changedKeys(
  engine: Engine,
  tenant: number,
  after: Uint8Array | null,
  max: number,
): readonly Uint8Array[] {
  const whole = prefixRange(tenantPrefix(tenant));
  const range = after === null ? whole : { ...whole, gte: keyAfter(after) };
  const own = engine.cursor({ ...range, only: "keys" });
  const hidden = engine.cursor({ ...hiddenRange(range), only: "keys" });
  const keys = [...own.next(max).keys, ...hidden.next(max).keys.map(readBesideKey)];
  own.close();
  hidden.close();
  return keys.sort(Buffer.compare).slice(0, max);
}
