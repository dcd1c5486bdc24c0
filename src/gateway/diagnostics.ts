/**
 * GET /v1/admin/diagnostics: the facts that are needed to find out from afar what is wrong with a server, as one
 * gzipped JSON file. It has no secrets and nothing of tenants but their names; statements in it have no values. Called
 * by gateway.ts.
 */
import { readFileSync } from "node:fs";
import { cpus, freemem, loadavg, release, totalmem, type, uptime } from "node:os";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Config, SECRET_KEYS } from "../protocol/config.js";
import { DIAGNOSTIC_PROFILE_SECONDS_MAX } from "../protocol/limits.js";
import { diagnoseThread, type RecentLines, type ThreadDiagnosis } from "../protocol/thread-diagnosis.js";
import type { ActorPool } from "./actor-pool.js";
import type { MetricsPage } from "./metrics.js";
import type { LocalExchange, ServeCaller } from "./route.js";
import type { Services } from "./services.js";

/**
 * An actor that is silent for longer, beside the time of a profile, is left out: what is wrong may be that it is busy.
 */
const ANSWER_MS_MAX = 60_000;
const REDACTED = "(redacted)";
/** Settings that hold something secret, or might; names of variables and files that hold it do not. */
const SECRET_NAME = /secret|password|token$|headers|^apiKey$/i;
/** Names of headers, without values. */
const NO_SECRET = "server.cors.headers";

export interface DiagnosticsSources {
  readonly services: Pick<Services, "config" | "logger" | "clock">;
  readonly pool: ActorPool;
  readonly metrics: () => MetricsPage;
  readonly version: string;
  readonly lines: RecentLines;
}

export function serveDiagnostics(sources: DiagnosticsSources): ServeCaller {
  return (exchange) => {
    const given = new URLSearchParams(exchange.query).get("profile_seconds") ?? "0";
    const seconds = Number(given);
    if (!/^\d{1,3}$/.test(given) || seconds > DIAGNOSTIC_PROFILE_SECONDS_MAX) {
      const most = `a whole number of seconds from 0 (no profile) to ${DIAGNOSTIC_PROFILE_SECONDS_MAX}`;
      exchange.fail("invalid_request", `The query field "profile_seconds" must be ${most}.`, {
        field: "profile_seconds",
      });
      return;
    }
    exchange.waitForAnswer();
    bundle(sources, seconds).then(
      (bytes) => send(exchange, bytes, sources.services.clock.wall()),
      (error: unknown) => {
        sources.services.logger.error({ err: error }, "the diagnostic bundle cannot be made");
        if (!exchange.answered) exchange.fail("internal_error");
      },
    );
  };
}

function send(exchange: LocalExchange, bytes: Uint8Array, wallMs: number): void {
  if (exchange.answered) return;
  const name = `tessera-diagnostics-${new Date(wallMs).toISOString().replace(/[:.]/g, "-")}.json.gz`;
  const headers = `Content-Disposition: attachment; filename="${name}"\nCache-Control: no-store`;
  exchange.answer(200, "application/gzip", headers, bytes);
}

async function bundle(sources: DiagnosticsSources, profileSeconds: number): Promise<Uint8Array> {
  const { services, pool, version, lines } = sources;
  const [gateway, actors, metrics] = await Promise.all([
    diagnoseThread("gateway", lines, profileSeconds),
    pool.diagnose(profileSeconds, profileSeconds * 1000 + ANSWER_MS_MAX),
    sources.metrics().render(),
  ]);
  actors.sort((a, b) => (a.thread < b.thread ? -1 : 1));
  const threads = [gateway, ...actors].map((thread) => withoutValues(thread, services.config));
  const made = {
    made_at: new Date(services.clock.wall()).toISOString(),
    versions: { tessera: version, ...process.versions },
    system: systemFacts(),
    configuration: redacted(services.config),
    partitions: Array.from({ length: pool.partitions }, (_, partition) => ({
      partition,
      state: pool.stateOf(partition),
      requests_in_flight: pool.requestsInFlight[partition],
    })),
    slow_statements: threads.flatMap((thread) => thread.lines.filter((line) => line.includes('"slow statement"'))),
    threads,
    metrics,
  };
  return promisify(gzip)(JSON.stringify(made));
}

function systemFacts(): object {
  return {
    system: `${type()} ${release()}`,
    processors: cpus().length,
    processor: cpus()[0]?.model ?? null,
    memory_bytes: totalmem(),
    memory_free_bytes: freemem(),
    load_averages: loadavg(),
    uptime_seconds: uptime(),
    process_uptime_seconds: process.uptime(),
    resources: process.resourceUsage(),
    limits: textOf("/proc/self/limits"),
    cgroup_memory_max: textOf("/sys/fs/cgroup/memory.max"),
    cgroup_cpu_max: textOf("/sys/fs/cgroup/cpu.max"),
  };
}

/** Null where the system has no such file. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}

/** The configuration without what is secret: settings that are, such as look like it, and passwords in addresses. */
export function redacted(config: Config): object {
  const secrets = new Set(
    SECRET_KEYS.map((key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())),
  );
  const copy = (value: unknown, path: readonly string[]): unknown => {
    const setting = path.join(".");
    const isSecret = secrets.has(setting) || (setting !== NO_SECRET && SECRET_NAME.test(path.at(-1) ?? ""));
    if (Array.isArray(value)) {
      if (isSecret) return value.map(() => REDACTED);
      return value.map((item) => (typeof item === "string" ? withoutPassword(item) : item));
    }
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner, [...path, key])]));
    }
    if (typeof value !== "string" || value === "") return value;
    return isSecret ? REDACTED : withoutPassword(value);
  };
  return copy(config, []) as object;
}

/** Of an address: https://user:password@host. */
function withoutPassword(text: string): string {
  return text.replace(/(\/\/)[^/@\s]+@/g, `$1${REDACTED}@`);
}

/** Where the log may show statements' values, the bundle does not show the statements. */
function withoutValues(thread: ThreadDiagnosis, { query }: Config): ThreadDiagnosis {
  if (!query.slowValues) return thread;
  return { ...thread, lines: thread.lines.filter((line) => !line.includes('"slow statement"')) };
}
