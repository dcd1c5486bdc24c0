/**
 * Messages between an actor and its watcher's thread (workers/watch.ts). `id`: of a watched folder, given by the
 * actor.
 */
import type { WatchOptions } from "./folder-watcher.js";

export type ToWatcher =
  | { readonly kind: "watch"; readonly id: number; readonly options: WatchOptions }
  | { readonly kind: "unwatch"; readonly id: number };

export type FromWatcher =
  | { readonly kind: "ready"; readonly id: number }
  /** Null: all has to be looked at. */
  | { readonly kind: "changed"; readonly id: number; readonly paths: readonly string[] | null }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
