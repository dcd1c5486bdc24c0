/** What a watcher is told of a large commit: of loads only the runs that it wants are gone through. */
import { mergedOperationsOf } from "./large-commit.js";
import type { LargeSource } from "./large-source.js";
import type { CommitStamp, Operation } from "./operation.js";
import type { CommitWatcher } from "./shard-options.js";

/** As `CommitWatcher.committing`; null: nobody watches. */
export function largeCommitting(
  watcher: CommitWatcher | null,
  { sequence, micros }: CommitStamp,
  sources: readonly LargeSource[],
): readonly Operation[] | undefined {
  if (watcher === null) return undefined;
  const wants = (prefix: Uint8Array): boolean => watcher.watches(prefix, micros);
  return watcher.committing(sequence, micros, mergedOperationsOf(sources, wants));
}
