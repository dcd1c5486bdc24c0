/** What the server says of itself: its settings without secrets, slow statements, threads. For operators. */
import { type Loaded, useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";

export interface Report {
  readonly versions: Readonly<Record<string, string>>;
  readonly system: {
    readonly system: string;
    readonly processors: number;
    readonly processor: string;
    readonly memory_bytes: number;
    readonly memory_free_bytes: number;
    readonly load_averages: readonly number[];
  };
  readonly configuration: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Lines of the log. */
  readonly slow_statements: readonly string[];
  readonly threads: readonly {
    readonly thread: string;
    readonly heap: { readonly used_heap_size: number; readonly heap_size_limit: number };
  }[];
}

export async function fetchReport(profileSeconds: string, signal?: AbortSignal): Promise<Blob> {
  const query = profileSeconds === "0" ? {} : { profile_seconds: profileSeconds };
  const answer = await client().fetch("GET", "/v1/admin/diagnostics", { query, ...(signal && { signal }) });
  return answer.blob();
}

export function useReport(): Loaded<Report> {
  return useLoad(async (signal) => {
    const packed = await fetchReport("0", signal);
    const text = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
    return JSON.parse(text) as Report;
  }, []);
}
