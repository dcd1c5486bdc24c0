/** The path of a partition's shard in the data directory. */
import { join } from "node:path";

export function partitionDirectory(dataDirectory: string, partition: number): string {
  return join(dataDirectory, `partition-${partition}`);
}
