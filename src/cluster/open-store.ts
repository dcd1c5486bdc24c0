/** Opens the place where checkpoints are kept outside of all nodes. */
import type { CheckpointPlace } from "../protocol/messages.js";
import { FolderProcess } from "./folder-process.js";
import type { ObjectStore } from "./object-store.js";
import { S3Store } from "./s3-store.js";

export function openObjectStore({ place, s3 }: Pick<CheckpointPlace, "place" | "s3">): ObjectStore {
  return s3 === null ? new FolderProcess(place) : new S3Store(place, s3);
}
