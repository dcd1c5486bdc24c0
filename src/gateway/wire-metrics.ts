/** Counters of the protocols beside HTTP. Their servers (src/postgres, src/bolt) count here; server routes render. */
import { Counter, Gauge, type Registry } from "prom-client";
import { DurationHistogram, Durations } from "./durations.js";

/** What a connection asks of its tenant's actor. */
const POSTGRES_KINDS = ["open", "simple", "extended", "copy"] as const;
export type PostgresKind = (typeof POSTGRES_KINDS)[number];
const BOLT_KINDS = ["open", "run", "pull", "other"] as const;
export type BoltKind = (typeof BOLT_KINDS)[number];

/** How the password was shown: a proof of it, itself, or an API key or a token in its place. */
export const SIGN_INS = ["scram", "password", "key"] as const;
export type SignInMethod = (typeof SIGN_INS)[number];

/**
 * `refused`: it was wrong; `limited`: too many wrong ones; `failed`: it could not be checked, or the exchange broke
 * off.
 */
export type SignInOutcome = "ok" | "refused" | "limited" | "failed";

const OUTCOMES = ["answered", "lost"] as const;
/** Whether there was an answer, be it an error. */
type Outcome = (typeof OUTCOMES)[number];

interface Words {
  /** In the names of metrics. */
  readonly name: string;
  readonly protocol: string;
  readonly asked: string;
  readonly methods: string;
}

export class WireMetrics<K extends string> {
  connections = 0;
  readonly durations: Durations;
  /** By their kind's place among the kinds. */
  private readonly requests: Readonly<Record<Outcome, number[]>>;
  private readonly signIns = new Map<string, number>();

  private constructor(
    private readonly words: Words,
    private readonly kinds: readonly K[],
  ) {
    this.durations = new Durations(kinds.map((kind) => ({ kind })));
    this.requests = { answered: kinds.map(() => 0), lost: kinds.map(() => 0) };
  }

  static ofPostgres(): WireMetrics<PostgresKind> {
    const words = {
      name: "postgres",
      protocol: "PostgreSQL's protocol",
      asked: "to open a session, queries, groups of messages, pieces of COPY",
      methods: "scram, password, key",
    };
    return new WireMetrics(words, POSTGRES_KINDS);
  }

  static ofBolt(): WireMetrics<BoltKind> {
    const words = {
      name: "bolt",
      protocol: "Bolt",
      asked: "to open a session, statements, further rows, others",
      methods: "password, key",
    };
    return new WireMetrics(words, BOLT_KINDS);
  }

  count(kind: K, outcome: Outcome, tookMs: number): void {
    const place = this.kinds.indexOf(kind);
    this.requests[outcome][place]!++;
    this.durations.count(place, tookMs);
  }

  countSignIn(method: SignInMethod, outcome: SignInOutcome): void {
    const key = `${method}/${outcome}`;
    this.signIns.set(key, (this.signIns.get(key) ?? 0) + 1);
  }

  register(registry: Registry): void {
    const registers = [registry];
    const { kinds, requests, signIns } = this;
    const { name: prefix, protocol, asked, methods } = this.words;
    const connections = (): number => this.connections;
    new Gauge({
      name: `tessera_${prefix}_connections`,
      help: `Connections of ${protocol} that are open; tessera_connections has them, too.`,
      registers,
      collect() {
        this.set(connections());
      },
    });
    new Counter({
      name: `tessera_${prefix}_sign_ins_total`,
      help: `Sign-ins by ${protocol}, by how the password was shown (${methods}) and what came of it.`,
      labelNames: ["method", "outcome"],
      registers,
      collect() {
        this.reset();
        for (const [key, count] of signIns) {
          const [method, outcome] = key.split("/") as [string, string];
          this.inc({ method, outcome }, count);
        }
      },
    });
    new Counter({
      name: `tessera_${prefix}_requests_total`,
      help: `What connections of ${protocol} asked: ${asked}.`,
      labelNames: ["kind", "outcome"],
      registers,
      collect() {
        this.reset();
        for (const outcome of OUTCOMES)
          for (const [place, kind] of kinds.entries()) {
            const count = requests[outcome][place]!;
            if (count > 0) this.inc({ kind, outcome }, count);
          }
      },
    });
    const name = `tessera_${prefix}_request_duration_seconds`;
    const help = "Time from when a connection's messages went to their actor to the end of the answer.";
    new DurationHistogram({ name, help, labelNames: ["kind"] }, this.durations, registry);
  }
}
