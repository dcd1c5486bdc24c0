/**
 * The real server under mixed load, killed and started again, round after round: with SIGKILL at any moment, also while
 * it starts, and, where a small file system can be mounted, after its disk was full. Run by `make torture` and, a few
 * rounds, by torture.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { TestServer } from "../e2e/server.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { SmallDisk } from "./small-disk.js";
import { allWorks, type Work } from "./works.js";

export type Kind = "killed" | "killed twice" | "killed with a full disk";

export interface Round {
  readonly kind: Kind;
  readonly problems: readonly string[];
  readonly acknowledged: number;
  readonly refused: number;
}

export class Torture {
  readonly works: readonly { readonly work: Work; readonly clients: number }[];
  private isStopped = false;

  private constructor(
    readonly server: TestServer,
    readonly disk: SmallDisk | null,
    private readonly provider: FakeProvider,
    private readonly random: SeededRandom,
    private readonly secrets: string,
  ) {
    this.works = allWorks(server);
  }

  static async start(seed: number): Promise<Torture> {
    const provider = await FakeProvider.start(() => ({ pieces: openaiPieces(["Yes", "."]) }));
    const disk = SmallDisk.mount();
    const secrets = mkdtempSync(join(tmpdir(), "tessera-keys-"));
    writeFileSync(join(secrets, "key"), Buffer.alloc(32, 1), { mode: 0o600 });
    const environment = {
      TESSERA_ACTORS: "2",
      // Of every two seeds one.
      ...(seed % 2 === 0 && { TESSERA_STORAGE_ENCRYPTION: "true", TESSERA_SECRETS_KEY_FILE: join(secrets, "key") }),
      ...provider.settings("m-1"),
      TESSERA_QUERY_AI_SERVICE_API_KEY_ENV: "LLM_KEY",
      LLM_KEY: "a key",
      TESSERA_STORAGE_LOG_SEGMENT_BYTES: String(256 * 1024),
      TESSERA_STORAGE_LOG_RETENTION_BYTES: String(1024 * 1024),
    };
    const server = await TestServer.start(environment, disk === null ? undefined : join(disk.path, "data"));
    const torture = new Torture(server, disk, provider, new SeededRandom(seed), secrets);
    for (const { work } of torture.works) await work.prepare();
    return torture;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    this.disk?.unmount();
    await this.provider.close();
    rmSync(this.secrets, { recursive: true });
  }

  /** Of every ten rounds two kill while the server starts, and three fill the disk where that can be done. */
  kindOf(round: number): Kind {
    if (round % 5 === 2) return "killed twice";
    return round % 3 === 1 && this.disk !== null ? "killed with a full disk" : "killed";
  }

  /** Loads until so many items more are acknowledged, kills, starts, and looks. */
  async round(kind: Kind, items = 60): Promise<Round> {
    const { server, random } = this;
    this.isStopped = false;
    const enough = this.sum("acknowledged") + items;
    const running = Promise.all(
      this.works.flatMap(({ work, clients }) => Array.from({ length: clients }, () => this.load(work))),
    );
    while (this.sum("acknowledged") < enough) await sleep(5);
    let makeRoom: (() => void) | null = null;
    if (kind === "killed with a full disk") {
      makeRoom = this.disk!.fill();
      await sleep(random.next() * 500);
      // Half of the time it is killed when there is room again, and must have gone on.
      if (random.chance(0.5)) {
        makeRoom();
        makeRoom = null;
      }
    }
    await sleep(random.next() * 400);
    this.isStopped = true;
    await server.kill();
    makeRoom?.();
    await running;
    if (kind === "killed twice") await this.bootAndKill();
    await server.boot();
    const problems: string[] = [];
    for (const { work } of this.works) problems.push(...(await work.problems()));
    return { kind, problems, acknowledged: this.sum("acknowledged"), refused: this.sum("refused") };
  }

  private async bootAndKill(): Promise<void> {
    const booting = this.server.boot().catch(() => undefined);
    await sleep(this.random.next() * 2500);
    await this.server.kill();
    await booting;
  }

  private sum(what: "acknowledged" | "refused"): number {
    return this.works.reduce((sum, { work }) => sum + work[what].size, 0);
  }

  private async load(work: Work): Promise<void> {
    while (!this.isStopped) {
      await work.one();
      await sleep(1);
    }
  }
}
