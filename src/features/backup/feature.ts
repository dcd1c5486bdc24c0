/** Backups and restores. Their handlers need the actor: actor-features.ts adds them. */
import type { Feature } from "../feature.js";
import { BACKUP_FUNCTIONS } from "./backup-functions.js";

export const backupFeature = {
  name: "backup",
  functions: BACKUP_FUNCTIONS,
} satisfies Feature;
