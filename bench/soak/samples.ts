/** What a server uses, once a second: from /proc and its /metrics. Called by run.ts. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { cpuSecondsOf } from "../processes.js";

export interface Sample {
  /** Since the load began. */
  readonly second: number;
  readonly rssBytes: number;
  /** JavaScript heap of each actor's thread, and of the gateway's (the last). */
  readonly heapBytes: readonly number[];
  readonly handles: number;
  readonly threads: number;
  readonly dataBytes: number;
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
  const page = await (await fetch(`${server.url}/metrics`)).text();
  return {
    second,
    rssBytes: 1024 * numberOf("VmRSS"),
    heapBytes: heapsOf(page),
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    threads: numberOf("Threads"),
    dataBytes: bytesBelow(directory),
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

function bytesBelow(folder: string): number {
  let sum = 0;
  for (const name of entriesOf(folder)) {
    try {
      const stat = statSync(join(folder, name));
      if (stat.isFile()) sum += stat.size;
    } catch {
      // Deleted meanwhile.
    }
  }
  return sum;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    // A folder went while it was read: the next second tells.
    return [];
  }
}
