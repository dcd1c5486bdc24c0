/**
 * The providers that are asked over the network, one per settings: those that are equal share connections and places.
 * Made and owned by the actor's TenantProviders.
 */
import { createHash } from "node:crypto";
import type { ProviderKind } from "../../protocol/provider-kinds.js";
import type { Dialect } from "./dialect.js";
import { DIALECTS } from "./dialects.found.js";
import type { Provider } from "./provider.js";
import type { ProviderSettings } from "./provider-settings.js";
import { type RemoteLimits, RemoteProvider } from "./remote-provider.js";

export function dialectOf(kind: ProviderKind): Dialect {
  return DIALECTS[kind];
}

/** Those used longest ago are closed first. */
const KEPT_MAX = 64;

export class Providers {
  private readonly kept = new Map<string, RemoteProvider>();

  constructor(private readonly limits: RemoteLimits) {}

  of(settings: ProviderSettings): Provider {
    const key = createHash("sha256").update(JSON.stringify(settings)).digest("hex");
    const known = this.kept.get(key);
    const provider = known ?? new RemoteProvider(settings, dialectOf(settings.kind), this.limits);
    this.kept.delete(key);
    this.kept.set(key, provider);
    // Its running requests keep it alive until they end; here it is only forgotten.
    if (this.kept.size > KEPT_MAX) this.kept.delete(this.kept.keys().next().value!);
    return provider;
  }

  async close(): Promise<void> {
    await Promise.all([...this.kept.values()].map((provider) => provider.close()));
  }
}
