/** What a shard goes by where its options say nothing else (shard-options.ts). */

export const VERSION_BYTES_MAX = 256 * 1024 * 1024;
export const UNSEEN_BYTES = 128 * 1024 * 1024;
/** What the log refuses an append with when it is as it was before and takes later ones. */
export const LOG_STAYS_USABLE: ReadonlySet<string> = new Set(["disk_full", "overloaded", "log_unavailable"]);
