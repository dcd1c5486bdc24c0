/** The library's settings from the configuration. Called by workers/library.ts. */
import { resolve } from "node:path";
import type { SharedModels } from "../../protocol/shared-models.js";
import { DirectorySource } from "./directory-source.js";
import { HttpClient } from "./http-client.js";
import { HttpSource } from "./http-source.js";
import { HubSource } from "./hub-source.js";
import type { LibrarySettings } from "./model-library.js";
import type { ModelSource } from "./model-source.js";
import { PeerSource } from "./peer-source.js";

/** The keys of [ai] and [ai.pull] that matter here. */
export interface LibraryConfig {
  readonly modelRoot: string;
  readonly embeddingModel: string;
  readonly pull: {
    /** Folders (relative to where the server was started), addresses, and addresses with `hub:` before them. */
    readonly sources: readonly string[];
    readonly bytesMax: number;
    readonly freeBytesMin: number;
    readonly retries: number;
    readonly idleSeconds: number;
    readonly timeoutSeconds: number;
  };
}

const BACKOFF_MS = 500;
const HUB = "hub:";

/** `bundled`: the folder of the bundles that come with the program. `shared`: in a cluster. */
export function librarySettings(
  config: LibraryConfig,
  bundled: string,
  shared: SharedModels | null = null,
): LibrarySettings {
  const { sources, bytesMax, freeBytesMin, retries, idleSeconds, timeoutSeconds } = config.pull;
  const bases = sources.map((source) => source.replace(HUB, "")).filter(isAddress);
  const origins = new Set(bases.map((base) => new URL(base).origin));
  const client = new HttpClient({ origins, idleMs: idleSeconds * 1000 });
  return {
    root: config.modelRoot,
    bundled,
    embeddingModel: config.embeddingModel,
    sources: [
      ...sources.map((source) => sourceOf(source, client)),
      ...(shared === null ? [] : [new PeerSource(shared)]),
    ],
    shared,
    hasHub: sources.some((source) => source.startsWith(HUB)),
    bytesMax,
    freeBytesMin,
    retries,
    backoffMs: BACKOFF_MS,
    timeoutMs: timeoutSeconds * 1000,
  };
}

function sourceOf(source: string, client: HttpClient): ModelSource {
  const base = source.replace(HUB, "").replace(/\/+$/, "");
  if (source.startsWith(HUB)) return new HubSource(source, base, client);
  return isAddress(source) ? new HttpSource(source, base, client) : new DirectorySource(source, resolve(source));
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
