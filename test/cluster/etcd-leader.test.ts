/** Appends go to the member of etcd that leads, as soon as it is known, and elsewhere when it is gone. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { EtcdLeader } from "../../src/cluster/etcd-leader.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";

t.setTimeout(120_000);

t.test("it is looked for once a term, and again after a failure", async (t) => {
  let [looks, leads] = [0, 2 as number | null];
  const leader = new EtcdLeader(async () => {
    looks++;
    return leads;
  });
  t.equal(leader.member, null);
  leader.heard(7n);
  leader.heard(7n);
  await Promise.resolve();
  t.same([leader.member, looks], [2, 1]);
  leader.heard(7n);
  t.equal(looks, 1);
  leader.failed(1);
  t.equal(leader.member, 2, "another member failed");
  leader.failed(2);
  t.equal(leader.member, null);
  leads = 0;
  for (leader.heard(8n); leader.member === null; leader.heard(8n)) await sleep(20);
  t.same([leader.member, looks], [0, 2]);
});

/** Transactions that a member was asked for. */
async function transactionsOf({ endpoint }: EtcdMember): Promise<number> {
  const text = await (await fetch(`http://${endpoint}/metrics`)).text();
  const [, count] = /^grpc_server_started_total\{grpc_method="Txn".*\} (\d+)$/m.exec(text)!;
  return Number(count);
}

t.test("of three members", { skip: NO_ETCD }, async (t) => {
  const members = await EtcdMember.startMany(3);
  const service = new EtcdLogService({ endpoints: members.map(({ endpoint }) => endpoint), installation: "leader" });
  t.teardown(async () => {
    service.close();
    await Promise.all(members.map((member) => member.end()));
  });
  const epoch = (await service.claim({ partition: 1, node: "n1", tenure: "t", epoch: 0 }))!;
  let sequence = 0;
  const append = () => service.append(1, epoch, { position: { sequence: ++sequence, part: 0 }, bytes: Buffer.of(1) });
  /** Who is asked for appends from now on, found by asking until it is one member only. */
  const asked = async (alive: readonly EtcdMember[]): Promise<EtcdMember> => {
    for (;;) {
      const before = await Promise.all(alive.map(transactionsOf));
      for (let i = 0; i < 5; i++) {
        const outcome = await append().catch(() => "unknown");
        // Nothing follows an append whose outcome nobody knows before it is settled.
        if (outcome === "unknown") while ((await service.settle(1, { sequence, part: 0 }).catch(() => null)) === null);
      }
      const more = await Promise.all(alive.map(transactionsOf));
      const [only, ...others] = alive.filter((_, i) => more[i]! - before[i]! >= 5);
      if (only !== undefined && others.length === 0 && (await leads(only))) return only;
    }
  };
  const leads = async ({ endpoint }: EtcdMember): Promise<boolean> => {
    const text = await (await fetch(`http://${endpoint}/metrics`)).text();
    return /^etcd_server_is_leader 1$/m.test(text);
  };
  const first = await asked(members);
  t.ok(await leads(first));
  await first.kill();
  const left = members.filter((member) => member !== first);
  const next = await asked(left);
  t.not(next, first);
  t.equal(await append(), "appended");
});
