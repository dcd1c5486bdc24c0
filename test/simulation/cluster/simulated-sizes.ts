/** Small, so that what is large is frequent. */
export const LARGE_SIZES = { operations: 6, bytes: 1e6, stepOperations: 3, stepBytes: 1e6 };

/** Of a node's own log of a partition. */
export const LOG_OPTIONS = { segmentBytes: 20_000, retentionBytes: 0 };

/** Where it is on the partition's disk. */
export const logDirectoryOf = (partition: number): string => `/p${partition}/log`;
