/** What a node of a cluster does when it starts, or its disk is full: it waits for etcd, and tells it. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { onceEtcdAnswers } from "../../src/cluster/await-etcd.js";
import { ToldRoom } from "../../src/cluster/told-room.js";
import { DbError } from "../../src/protocol/errors.js";

const SILENT = (): never => {
  throw new DbError("log_unavailable", "The replicated log does not answer.");
};

t.test("a start waits for etcd, and says so once", async (t) => {
  const warnings: string[] = [];
  let asked = 0;
  const answer = await onceEtcdAnswers(
    async () => (++asked < 3 ? SILENT() : "there"),
    (message) => warnings.push(message),
  );
  t.equal(answer, "there");
  t.same(warnings, ["The replicated log does not answer. The start waits for it, up to 60 s."]);
});

t.test("it gives up in the end, and at once where waiting is of no use", async (t) => {
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked++;
    return SILENT();
  };
  await t.rejects(
    onceEtcdAnswers(ask, () => undefined, 700),
    { code: "log_unavailable" },
  );
  t.ok(asked >= 2, `asked ${asked} times`);
  const other = async (): Promise<never> => {
    throw new DbError("invalid_request", "There is another cluster.");
  };
  await t.rejects(
    onceEtcdAnswers(other, () => t.fail("it does not wait")),
    { code: "invalid_request" },
  );
});

t.test("a full disk is told, until it is told", async (t) => {
  const told: boolean[] = [];
  const failures: unknown[] = [];
  let isSilent = false;
  const room = new ToldRoom(
    async (isFull) => {
      if (isSilent) SILENT();
      told.push(isFull);
    },
    (error) => failures.push(error),
    10,
  );
  room.became(true);
  t.same(told, [], "nothing is told before the node begins");
  await room.begin();
  t.same(told, [true], "the node began with a full disk");
  isSilent = true;
  room.became(false);
  while (failures.length < 2) await sleep(5);
  t.same(told, [true]);
  isSilent = false;
  while (told.length < 2) await sleep(5);
  t.same(told, [true, false]);
  room.became(false);
  await sleep(20);
  t.equal(told.length, 2, "what is known is not told again");
  isSilent = true;
  room.became(true);
  room.close();
  await sleep(30);
  t.ok(failures.length <= 3, "nothing is told when the node has ended");
});
