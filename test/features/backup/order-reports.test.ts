/**
 * Orders for backups and restores between two nodes: messages are lost, come twice or late. A restore may begin to
 * change a tenant only while whoever ordered it still waits for it.
 */
import t from "tap";
import { BackupOrders } from "../../../src/features/backup/backup-orders.js";
import { OrderReports, SILENCE_BETWEEN_NODES_MS } from "../../../src/features/backup/order-reports.js";
import { RestoreOrders } from "../../../src/features/backup/restore-orders.js";
import type { BackupReport, OrderHeard, ReportSent } from "../../../src/protocol/backup-orders.js";
import type { FromActor } from "../../../src/protocol/messages.js";
import type { RestoreReport } from "../../../src/protocol/placement.js";

const PLACE = { tenantId: "acme", number: 3, partition: 5 };
const ORDER = { from: "acme", backup: "b", store: "tenant", passphrase: null, untilMicros: null } as const;

/** The owner of a partition, and the directory's. What they say is kept until the test has it arrive. */
function twoNodes() {
  const world = { nowMs: 0, said: [] as { report: RestoreReport; sent: ReportSent }[], answers: [] as OrderHeard[] };
  const now = () => world.nowMs;
  let restore = "";
  const reports = new OrderReports<RestoreReport>({
    ...{ isBetweenNodes: true, now },
    report: (report, sent) => world.said.push({ report, sent }),
  });
  const orders = new RestoreOrders({
    say: (message: FromActor) => {
      if (message.kind === "restore") restore = message.order.restore;
      if (message.kind === "order-heard") world.answers.push(message.heard);
    },
    ...{ mark: () => ({}), now, silenceMs: SILENCE_BETWEEN_NODES_MS },
  });
  orders.start(PLACE, { ...ORDER, replaces: true, isChecked: false });
  const tell = (state: RestoreReport["state"], hasEnded = false) =>
    reports.tell(restore, 5, { tenant: 3, restore, state, entries: 0, verified: null, error: null }, hasEnded);
  /** All that was said arrives, or is lost. */
  const deliver = () => {
    for (const { report, sent } of world.said.splice(0)) orders.heard(report, sent);
    for (const answer of world.answers.splice(0)) reports.heard(answer);
  };
  const lose = () => world.said.splice(0).length;
  return { world, reports, orders, tell, deliver, lose, view: () => orders.get("acme", 3), name: () => restore };
}

t.test("what is lost is said again until it is heard", (t) => {
  const { world, reports, tell, deliver, lose, view } = twoNodes();
  tell("restoring");
  deliver();
  t.equal(view().state, "restoring");
  tell("completed", true);
  t.equal(lose(), 1);
  world.nowMs += 1000;
  reports.sweep();
  t.equal(lose(), 0, "not at once");
  world.nowMs += 1000;
  reports.sweep();
  deliver();
  t.match(view(), { state: "completed", error: null });
  world.nowMs += 5000;
  reports.sweep();
  t.equal(lose(), 0, "and no more after that");
  t.end();
});

t.test("a restore changes nothing when it is not waited for any more", async (t) => {
  const { world, reports, orders, tell, deliver, lose, view, name } = twoNodes();
  tell("checking");
  const wanted = reports.isStillWanted(name());
  deliver();
  t.equal(await wanted, true, "who ordered it confirms");

  tell("checking");
  const late = reports.isStillWanted(name());
  const [report] = world.said.splice(-1);
  lose();
  world.nowMs += SILENCE_BETWEEN_NODES_MS + 1;
  orders.sweep();
  t.match(view(), { state: "failed", error: { code: "partition_unavailable" } });
  orders.heard(report!.report, report!.sent);
  for (const answer of world.answers.splice(0)) reports.heard(answer);
  t.equal(await late, false, "it counts as failed");
  t.match(view(), { state: "checking" }, "as long as it runs that is told");
});

t.test("an answer that comes late counts for nothing, and so does none", async (t) => {
  const { world, reports, orders, tell, name } = twoNodes();
  tell("checking");
  const late = reports.isStillWanted(name());
  for (const { report, sent } of world.said.splice(0)) orders.heard(report, sent);
  world.nowMs += 10_001;
  for (const answer of world.answers.splice(0)) reports.heard(answer);
  t.equal(await late, false);
  const never = reports.isStillWanted(name());
  world.said.splice(0);
  world.nowMs += 10_001;
  reports.sweep();
  t.equal(await never, false);
});

t.test("the next owner of the directory knows nothing of a restore", async (t) => {
  const { reports, world, tell, name } = twoNodes();
  const answers: OrderHeard[] = [];
  const next = new RestoreOrders({
    say: (message) => {
      if (message.kind === "order-heard") answers.push(message.heard);
    },
    ...{ mark: () => ({}), now: () => world.nowMs, silenceMs: SILENCE_BETWEEN_NODES_MS },
  });
  const deliver = () => {
    for (const { report, sent } of world.said.splice(0)) next.heard(report, sent);
    for (const answer of answers.splice(0)) reports.heard(answer);
  };
  tell("checking");
  const wanted = reports.isStillWanted(name());
  deliver();
  t.equal(await wanted, false, "one that has changed nothing ends");
  t.throws(() => next.get("acme", 3), { code: "not_found" });
  tell("restoring");
  deliver();
  t.match(next.get("acme", 3), { state: "restoring", finished_at: null }, "one that has begun to goes on");
  t.equal(next.isBusy, true);
  tell("completed", true);
  deliver();
  t.match(next.get("acme", 3), { state: "completed" });
});

t.test("a backup whose reports are lost fails, and is given up where it is made", async (t) => {
  let nowMs = 0;
  const said: FromActor[] = [];
  const orders = new BackupOrders({
    say: (message) => said.push(message),
    ...{ mark: () => ({ mark: "m" }), now: () => nowMs, silenceMs: SILENCE_BETWEEN_NODES_MS },
  });
  const order = { tenant: 3, tenantId: "acme", store: "whole", passphrase: null, base: "none" } as const;
  const made = orders.make(5, { ...order, schedule: null, verifies: false }, new AbortController().signal);
  const [create] = said.splice(0);
  t.match(create, { kind: "backup", partition: 5, order: { do: "create", mark: "m" } });
  const { ask } = (create as Extract<FromActor, { kind: "backup" }>).order;
  const report: BackupReport = { ask, state: "running", entries: 1, bytes: 1, backup: null, error: null };
  nowMs += SILENCE_BETWEEN_NODES_MS;
  orders.heard(report, { partition: 5, at: 7 });
  t.match(said.splice(0), [{ kind: "order-heard", partition: 5, heard: { order: ask, at: 7, isWanted: true } }]);
  nowMs += SILENCE_BETWEEN_NODES_MS;
  orders.sweep();
  t.same(said, [], "it was heard of since");
  nowMs += 1;
  orders.sweep();
  await t.rejects(made, { code: "partition_unavailable" });
  t.match(said.splice(0), [{ kind: "backup", partition: 5, order: { do: "cancel", ask } }]);
  orders.heard(report, { partition: 5, at: 9 });
  t.match(said.splice(0), [{ kind: "order-heard", heard: { isWanted: false } }], "who makes it learns it, too");
});

t.test("an order that nobody answers is given up", (t) => {
  let nowMs = 0;
  const options = { report: () => undefined, now: () => nowMs };
  for (const isBetweenNodes of [true, false]) {
    const reports = new OrderReports({ ...options, isBetweenNodes });
    reports.tell("a", 1, {}, false);
    nowMs += 15_000;
    t.same(reports.sweep(), []);
    reports.heard({ order: "a", at: nowMs, isWanted: true });
    nowMs += 15_000;
    t.same(reports.sweep(), []);
    nowMs += 10_000;
    t.same(reports.sweep(), isBetweenNodes ? ["a"] : [], "on one machine no message is lost");
  }
  t.end();
});
