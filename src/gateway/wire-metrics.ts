/** Counters of the protocols beside HTTP. Their servers (src/postgres, src/bolt) count here; server routes render. */
import { Counter, Gauge, type Registry } from "prom-client";
import { POSTGRES_KINDS, type PostgresKind } from "../protocol/postgres/message-kinds.js";
import { type CountedRequests, OUTCOMES, type Outcome, RequestCounts } from "../protocol/request-counts.js";
import { DurationHistogram, Durations } from "./durations.js";

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

interface Words {
  /** In the names of metrics. */
  readonly name: string;
  readonly protocol: string;
  readonly asked: string;
  readonly methods: string;
  /** Sockets are lent to actors. */
  readonly lends: boolean;
}

export class WireMetrics<K extends string> {
  connections = 0;
  /** Of these, connections whose sockets actors have. */
  lent = 0;
  private readonly own: RequestCounts<K>;
  /** Of the actors, for the sockets that they have; set before the page is made. */
  ofActors: readonly CountedRequests[] = [];
  private readonly signIns = new Map<string, number>();

  private constructor(
    private readonly words: Words,
    private readonly kinds: readonly K[],
  ) {
    this.own = new RequestCounts(kinds);
  }

  static ofPostgres(): WireMetrics<PostgresKind> {
    const words = {
      name: "postgres",
      protocol: "PostgreSQL's protocol",
      asked: "to open a session, queries, groups of messages, pieces of COPY",
      methods: "scram, password, key",
      lends: true,
    };
    return new WireMetrics(words, POSTGRES_KINDS);
  }

  static ofBolt(): WireMetrics<BoltKind> {
    const words = {
      name: "bolt",
      protocol: "Bolt",
      asked: "to open a session, statements, further rows, others",
      methods: "password, key",
      lends: false,
    };
    return new WireMetrics(words, BOLT_KINDS);
  }

  count(kind: K, outcome: Outcome, tookMs: number): void {
    this.own.count(kind, outcome, tookMs);
  }

  countSignIn(method: SignInMethod, outcome: SignInOutcome): void {
    const key = `${method}/${outcome}`;
    this.signIns.set(key, (this.signIns.get(key) ?? 0) + 1);
  }

  private registerLent(registers: Registry[]): void {
    const { name, protocol } = this.words;
    const lent = (): number => this.lent;
    new Gauge({
      name: `tessera_${name}_connections_lent`,
      help: `Connections of ${protocol} whose sockets the actors read and write.`,
      registers,
      collect() {
        this.set(lent());
      },
    });
  }

  register(registry: Registry): void {
    const registers = [registry];
    const { kinds, signIns } = this;
    const all = (): readonly CountedRequests[] => [this.own, ...this.ofActors];
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
    if (this.words.lends) this.registerLent(registers);
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
            const count = all().reduce((total, { requests }) => total + requests[outcome][place]!, 0);
            if (count > 0) this.inc({ kind, outcome }, count);
          }
      },
    });
    const name = `tessera_${prefix}_request_duration_seconds`;
    const help = "Time from when a connection's messages went to their actor to the end of the answer.";
    const durations = new Durations(
      kinds.map((kind) => ({ kind })),
      () => all().map((one) => one.durations),
    );
    new DurationHistogram({ name, help, labelNames: ["kind"] }, durations, registry);
  }
}
