/**
 * What a cluster costs: durable inserts on three nodes and three members of etcd beside one machine and beside
 * PostgreSQL with two synchronous standbys (`ANY 1`), point reads at the owner, through another node and at two owners
 * at once. All of it is on this machine, in one run, and takes turns.
 *
 * CPU is that of all processes of a place: of a cluster its nodes, and with etcd's members where the table says so.
 * Three nodes cost something without any request, too, so the table also has the CPU of the asked node alone.
 */
import { join } from "node:path";
import { NO_ETCD } from "../test/cluster/etcd.js";
import { BenchCluster, type ClusterNode, type ClusterTenant } from "./cluster/cluster-servers.js";
import { type PostgresCluster, postgresBinaries, startPostgres, startStandby } from "./contenders/postgres-cluster.js";
import { loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, type Request, writeRequests } from "./load/requests.js";
import { cpuSecondsOf } from "./processes.js";
import { removeDirectory, startPeer, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";
import { pointReads } from "./workloads/w1-point-read.js";
import { insertRequests } from "./workloads/w2-insert.js";
import { ACCOUNTS, prepare } from "./workloads/workload.js";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
/** A place is warm when it has not become faster by this share for so many times of that. */
const WARM_UP_GAIN = 0.04;
const WARM_UPS_ALIKE = 3;
const WARM_UPS_MAX = 20;
const KEYS_PER_RUN = 5_000_000;
const STANDBYS = ["s1", "s2"];

/** Who is asked. */
interface Place {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly isPeer: boolean;
  readonly roots: readonly number[];
  /** Of the roots, those of the node that is asked. */
  readonly asked: readonly number[];
  /** Beside `roots`. */
  readonly etcd: readonly number[];
}

/** Requests a second, and for each CPU second of the asked node, and of the place without and with etcd. */
interface Figures {
  readonly rate: number;
  readonly perCpuAsked: number;
  readonly perCpu: number;
  readonly perCpuWithEtcd: number;
}

export async function cluster(rounds: number, seconds: number): Promise<void> {
  if (NO_ETCD !== false) throw new Error(NO_ETCD);
  const started: { stop(): Promise<void> }[] = [];
  const kept: Keep = (server) => {
    started.unshift(server);
    return server;
  };
  try {
    const local = kept(await startTessera({ TESSERA_ACTORS: "1" }));
    const nodes = kept(await BenchCluster.start());
    const postgres = await replicatedPostgres(kept);
    const [first, second] = (await nodes.tenants()) as [ClusterTenant, ClusterTenant];
    const at = (name: string, { url, child }: ClusterNode, { token }: ClusterTenant): Place => ({
      ...{ name, url, token, isPeer: false, roots: nodes.roots.nodes, asked: [child.pid!], etcd: nodes.roots.etcd },
    });
    const alone: Place = { ...local, name: "one machine", isPeer: false, asked: local.roots, etcd: [] };
    const owner = at("cluster, at the owner", first.owner, first);
    const forwarded = at("cluster, through another node", second.owner, first);
    const other = at("cluster, the second owner", second.owner, second);
    for (const place of [alone, owner, other, ...postgres]) await prepare(place, ACCOUNTS);
    const run = new Run(rounds, seconds);
    await run.table("durable insert of one row", [alone, owner, forwarded, ...postgres], insertRequests);
    await run.table("point read by key", [alone, owner, forwarded, [owner, other]], pointReads);
    run.end();
  } finally {
    for (const server of started) await server.stop();
  }
}

class Run {
  private readonly directory = temporaryDirectory("cluster-requests");
  private readonly generator = loadGenerator();
  private files = 0;
  private nextKey = FIRST_KEY;

  constructor(
    private readonly rounds: number,
    private readonly seconds: number,
  ) {}

  /** The first row is what the others are compared with. Several places in a row are asked at once. */
  async table(
    title: string,
    rows: readonly (Place | readonly Place[])[],
    requests: (place: Place) => readonly Request[],
  ): Promise<void> {
    const entries = rows.map((row) => {
      const places = "url" in row ? [row] : row;
      return { places, files: places.map((place) => this.write(place, requests(place))) };
    });
    const figures: Figures[][] = entries.map(() => []);
    const cold: number[] = [];
    for (const { places, files } of entries) cold.push(await this.warmUp(places, files));
    for (let round = 0; round < this.rounds; round++) {
      for (const [i, { places, files }] of entries.entries()) {
        figures[i]!.push(await this.ask(places, files, this.seconds));
      }
    }
    console.log(
      `\n| ${title} | first requests/s | requests/s | per CPU second of the asked | of all nodes | with etcd | ratios to the first |`,
    );
    console.log("|---|--:|--:|--:|--:|--:|---|");
    for (const [i, { places }] of entries.entries()) {
      const of = (name: keyof Figures): number => median(figures[i]!.map((one) => one[name]));
      const ratio = (name: keyof Figures): string =>
        median(figures[i]!.map((one, round) => one[name] / figures[0]![round]![name])).toFixed(2);
      const name = places.map((place) => place.name).join(", and ");
      const columns = ["rate", "perCpuAsked", "perCpu", "perCpuWithEtcd"] as const;
      const numbers = [cold[i]!, ...columns.map(of)].map(Math.round);
      console.log(`| ${[name, ...numbers, columns.map(ratio).join(", ")].join(" | ")} |`);
    }
  }

  /**
   * Asks until the place is as fast as it gets: what a copy does once for many inserts takes as many more of them to be
   * compiled. The first rate.
   */
  private async warmUp(places: readonly Place[], files: readonly string[]): Promise<number> {
    const first = (await this.ask(places, files, WARM_UP_SECONDS)).rate;
    let best = first;
    for (let [times, alike] = [1, 0]; times < WARM_UPS_MAX && alike < WARM_UPS_ALIKE; times++) {
      const { rate } = await this.ask(places, files, WARM_UP_SECONDS);
      alike = rate > best * (1 + WARM_UP_GAIN) ? 0 : alike + 1;
      best = Math.max(best, rate);
    }
    return first;
  }

  end(): void {
    removeDirectory(this.directory);
  }

  private write(place: Place, requests: readonly Request[]): string {
    const file = join(this.directory, String(++this.files));
    writeRequests(file, place.url, requests, true);
    return file;
  }

  private async ask(places: readonly Place[], files: readonly string[], seconds: number): Promise<Figures> {
    const roots = [...new Set(places.flatMap((place) => place.roots))];
    const asked = [...new Set(places.flatMap((place) => place.asked))];
    const etcd = [...new Set(places.flatMap((place) => place.etcd))];
    const groups = [asked, roots, etcd];
    const before = groups.map(cpuSecondsOf);
    const connections = CONNECTIONS;
    const results = await Promise.all(
      places.map(({ url }, i) => {
        const firstKey = this.nextKey;
        this.nextKey += KEYS_PER_RUN;
        return throughput({ url, file: files[i]!, firstKey, connections, seconds, keepAlive: true }, this.generator);
      }),
    );
    const spent = groups.map((pids, i) => cpuSecondsOf(pids) - before[i]!);
    const [usedByAsked, used, usedByEtcd] = spent as [number, number, number];
    const errors = results.reduce((sum, result) => sum + result.errors, 0);
    if (errors > 0) console.log(`(${errors} errors of ${places.map(({ name }) => name).join(", and ")})`);
    const requests = results.reduce((sum, result) => sum + result.requests, 0);
    const rate = results.reduce((sum, result) => sum + result.requests / result.seconds, 0);
    return {
      rate,
      perCpuAsked: requests / usedByAsked,
      perCpu: requests / used,
      perCpuWithEtcd: requests / (used + usedByEtcd),
    };
  }
}

/** Notes what is to be stopped at the end. */
type Keep = <T extends { stop(): Promise<void> }>(server: T) => T;

/** PostgreSQL by itself and one with two standbys, each behind the peers' HTTP server. None: it is not installed. */
async function replicatedPostgres(kept: Keep): Promise<readonly Place[]> {
  const binaries = postgresBinaries();
  if (binaries === null) {
    console.log("PostgreSQL is left out: no initdb and postgres.");
    return [];
  }
  const alone = kept(await startPostgres(binaries, { shared_buffers: "256MB" }));
  const primary = kept(
    await startPostgres(binaries, {
      shared_buffers: "256MB",
      synchronous_standby_names: `ANY 1 (${STANDBYS.join(", ")})`,
    }),
  );
  const standbys: PostgresCluster[] = [];
  for (const name of STANDBYS) standbys.push(kept(await startStandby(binaries, primary, name)));
  return [
    kept(await peerOf("PostgreSQL", alone, [alone])),
    kept(await peerOf("PostgreSQL, ANY 1 of two standbys", primary, [primary, ...standbys])),
  ];
}

async function peerOf(name: string, { environment }: PostgresCluster, servers: readonly PostgresCluster[]) {
  const peer = await startPeer("postgres", name, environment);
  const roots = [...peer.roots, ...servers.map(({ pid }) => pid)];
  return { ...peer, roots, asked: roots, isPeer: true, etcd: [] };
}
