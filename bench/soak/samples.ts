/** What a server uses, once a second: from /proc and its /metrics. Called by run.ts. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { cpuSecondsOf } from "../processes.js";

/** What the data directory consists of. */
export const DATA_PARTS = ["change log", "RocksDB's log", "RocksDB's files", "indexes", "backups", "other"] as const;
export type DataPart = (typeof DATA_PARTS)[number];

const PATHS: readonly (readonly [path: RegExp, part: DataPart])[] = [
  [/^partition-\d+\/log\//, "change log"],
  [/^partition-\d+\/rocksdb\/\d+\.log$/, "RocksDB's log"],
  [/^partition-\d+\/rocksdb\//, "RocksDB's files"],
  [/^partition-\d+\/indexes\//, "indexes"],
  [/^backups\//, "backups"],
];

export interface Sample {
  /** Since the load began. */
  readonly second: number;
  readonly rssBytes: number;
  /** JavaScript heap of each actor's thread, and of the gateway's (the last). */
  readonly heapBytes: readonly number[];
  readonly handles: number;
  readonly threads: number;
  readonly dataBytes: number;
  readonly dataPartBytes: Readonly<Record<DataPart, number>>;
  /** Of the server since it started. */
  readonly cpuSeconds: number;
  /** Of the whole machine, over its last minute. */
  readonly loadAverage: number;
}

export async function takeSample(
  second: number,
  server: { pid: number; url: string },
  directory: string,
): Promise<Sample> {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const numberOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  const dataPartBytes = partsBelow(directory);
  const page = await (await fetch(`${server.url}/metrics`)).text();
  return {
    second,
    rssBytes: 1024 * numberOf("VmRSS"),
    heapBytes: heapsOf(page),
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    threads: numberOf("Threads"),
    dataBytes: Object.values(dataPartBytes).reduce((sum, bytes) => sum + bytes, 0),
    dataPartBytes,
    cpuSeconds: cpuSecondsOf([server.pid]),
    loadAverage: loadavg()[0]!,
  };
}

/** An actor that was too busy to tell has none. */
function heapsOf(page: string): number[] {
  const actors = [...page.matchAll(/^tessera_actor_heap_bytes\{actor="\d+"\} (\S+)$/gm)].map((match) =>
    Number(match[1]),
  );
  const gateway = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(page)?.[1] ?? 0);
  return [...actors, gateway];
}

/** To which part of the data directory a file belongs; `path` begins below it. */
export function partOf(path: string): DataPart {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
}

function partsBelow(folder: string): Record<DataPart, number> {
  const sums = Object.fromEntries(DATA_PARTS.map((part) => [part, 0])) as Record<DataPart, number>;
  for (const name of entriesOf(folder)) {
    try {
      const stat = statSync(join(folder, name));
      if (stat.isFile()) sums[partOf(name)] += stat.size;
    } catch {
      // Deleted meanwhile.
    }
  }
  return sums;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    // A folder went while it was read: the next second tells.
    return [];
  }
}
