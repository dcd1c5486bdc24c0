/**
 * Accounts between which clients move money through all nodes of a cluster, in transactions of several statements. The
 * sum never changes, for whoever reads, also from a copy; each transfer that was acknowledged is there at the end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, NotFoundError } from "../../../clients/typescript/src/index.js";
import type { SeededRandom } from "../../simulation/seeded-random.js";
import { isPassing } from "./readers.js";

const ACCOUNTS = 8;
const EACH = 100;
const SUM = "SELECT sum(balance), count(*) FROM account";

export class Bank {
  readonly problems: string[] = [];
  readonly acknowledged: number[] = [];
  private next = 1;

  constructor(
    private readonly clients: readonly Client[],
    private readonly random: SeededRandom,
    /** The sum as a copy has it; null: it did not answer. */
    private readonly staleSum: (node: number, sql: string) => Promise<readonly unknown[] | null>,
  ) {}

  static readonly TABLES = [
    "CREATE TABLE IF NOT EXISTS account (id integer PRIMARY KEY, balance integer NOT NULL CHECK (balance >= 0))",
    "CREATE TABLE IF NOT EXISTS transfer (id integer PRIMARY KEY, source integer, target integer, amount integer)",
    `INSERT INTO account SELECT i, ${EACH} FROM generate_series(1, ${ACCOUNTS}) i ON CONFLICT DO NOTHING`,
  ];

  async work(isOver: () => boolean): Promise<void> {
    for (let turn = 0; !isOver(); turn++) {
      const node = turn % this.clients.length;
      try {
        if (turn % 4 === 3) await this.read(node);
        else await this.transfer(node);
      } catch (error) {
        // A transaction of an owner that is gone is not known any more.
        if (!isPassing(error) && !(error instanceof NotFoundError)) this.problems.push(`a transfer ended: ${error}`);
        await sleep(50);
      }
    }
  }

  private async transfer(node: number): Promise<void> {
    const id = this.next++;
    const source = this.random.between(1, ACCOUNTS);
    const target = this.random.between(1, ACCOUNTS);
    const wanted = this.random.between(1, EACH);
    await this.clients[node]!.tx(
      async (tx) => {
        const [row] = await tx.query<{ balance: number }>("SELECT balance FROM account WHERE id = $1", [source]);
        const amount = Math.min(wanted, row!.balance);
        await tx.query("UPDATE account SET balance = balance - $2 WHERE id = $1", [source, amount]);
        await tx.query("UPDATE account SET balance = balance + $2 WHERE id = $1", [target, amount]);
        await tx.query("INSERT INTO transfer VALUES ($1, $2, $3, $4)", [id, source, target, amount]);
      },
      { attempts: 1 },
    );
    this.acknowledged.push(id);
  }

  private async read(node: number): Promise<void> {
    const isStale = this.random.chance(0.5);
    const row = isStale
      ? await this.staleSum(node, SUM)
      : Object.values((await this.clients[node]!.query<Record<string, unknown>>(SUM))[0]!);
    if (row !== null) this.check(isStale ? "a copy" : "a read", row);
  }

  private check(what: string, [sum, count]: readonly unknown[]): void {
    if (Number(sum) !== ACCOUNTS * EACH || Number(count) !== ACCOUNTS)
      this.problems.push(`${what} saw ${sum} on ${count} accounts`);
  }

  /** `rows`: what a statement gives when all is quiet. */
  async finish(rows: (sql: string) => Promise<unknown[][]>): Promise<void> {
    this.check("the last read", (await rows(SUM))[0]!);
    const transfers = (await rows("SELECT id, source, target, amount FROM transfer")) as number[][];
    const there = new Set(transfers.map(([id]) => id));
    const lost = this.acknowledged.filter((id) => !there.has(id));
    if (lost.length > 0) this.problems.push(`transfers are lost: ${lost}`);
    const balances = new Map((await rows("SELECT id, balance FROM account")) as [number, number][]);
    for (let account = 1; account <= ACCOUNTS; account++) {
      const sumOf = (place: number): number =>
        transfers.filter((transfer) => transfer[place] === account).reduce((sum, [, , , amount]) => sum + amount!, 0);
      const wanted = EACH + sumOf(2) - sumOf(1);
      if (balances.get(account) !== wanted)
        this.problems.push(`account ${account} has ${balances.get(account)}, its transfers make ${wanted}`);
    }
  }
}
