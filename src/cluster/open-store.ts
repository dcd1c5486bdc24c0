/** Opens the place where checkpoints are kept outside of all nodes. */
import type { CheckpointPlace } from "../protocol/messages.js";
import { FolderStore } from "./folder-store.js";
import type { ObjectStore } from "./object-store.js";
import { S3Store } from "./s3-store.js";

export function openObjectStore({ place, s3 }: Pick<CheckpointPlace, "place" | "s3">): ObjectStore {
  return s3 === null ? new FolderStore(place) : new S3Store(place, s3);
}
