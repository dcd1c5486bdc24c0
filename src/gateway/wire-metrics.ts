/** Counters of PostgreSQL's protocol. Its server (src/postgres) counts here; server routes render. */
import { Counter, Gauge, type Registry } from "prom-client";
import { DurationHistogram, Durations } from "./durations.js";

/** What a connection asks of its tenant's actor. */
export const WIRE_KINDS = ["open", "simple", "extended", "copy"] as const;
export type WireKind = (typeof WIRE_KINDS)[number];

/** How the password was shown: a proof of it, itself, or an API key in its place. */
export const SIGN_INS = ["scram", "password", "key"] as const;
export type SignInMethod = (typeof SIGN_INS)[number];

/** `refused`: it was wrong; `limited`: too many wrong ones; `failed`: it could not be checked, or the exchange broke off. */
export type SignInOutcome = "ok" | "refused" | "limited" | "failed";

export class WireMetrics {
  connections = 0;
  readonly durations = new Durations(WIRE_KINDS.map((kind) => ({ kind })));
  private readonly requests = new Map<string, number>();
  private readonly signIns = new Map<string, number>();

  /** `outcome`: whether there was an answer, be it an error. */
  count(kind: WireKind, outcome: "answered" | "lost", tookMs: number): void {
    add(this.requests, `${kind}/${outcome}`);
    this.durations.count(WIRE_KINDS.indexOf(kind), tookMs);
  }

  countSignIn(method: SignInMethod, outcome: SignInOutcome): void {
    add(this.signIns, `${method}/${outcome}`);
  }

  register(registry: Registry): void {
    const registers = [registry];
    const { requests, signIns } = this;
    const connections = (): number => this.connections;
    new Gauge({
      name: "tessera_postgres_connections",
      help: "Connections of PostgreSQL's protocol that are open; tessera_connections has them, too.",
      registers,
      collect() {
        this.set(connections());
      },
    });
    new Counter({
      name: "tessera_postgres_sign_ins_total",
      help: "Sign-ins by PostgreSQL's protocol, by how the password was shown (scram, password, key) and what came of it.",
      labelNames: ["method", "outcome"],
      registers,
      collect() {
        this.reset();
        for (const [key, count] of signIns) this.inc(labelsOf(key, "method"), count);
      },
    });
    new Counter({
      name: "tessera_postgres_requests_total",
      help: "What connections of PostgreSQL's protocol asked: to open a session, queries, groups of messages, pieces of COPY.",
      labelNames: ["kind", "outcome"],
      registers,
      collect() {
        this.reset();
        for (const [key, count] of requests) this.inc(labelsOf(key, "kind"), count);
      },
    });
    const name = "tessera_postgres_request_duration_seconds";
    const help = "Time from when a connection's messages went to their actor to the end of the answer.";
    new DurationHistogram({ name, help, labelNames: ["kind"] }, this.durations, registry);
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function labelsOf(key: string, first: string): Record<string, string> {
  const [value, outcome] = key.split("/") as [string, string];
  return { [first]: value, outcome };
}
