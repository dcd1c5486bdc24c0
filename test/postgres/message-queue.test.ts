/**
 * What a connection has received, cut into groups of messages: wherever the pieces end, and at a cost that grows with
 * the bytes.
 */
import t from "tap";
import { MessageQueue } from "../../src/protocol/postgres/message-queue.js";
import { bind, execute, message, parse, query, sync } from "../e2e/wire-client.js";

const KIB = 1024;

/** All groups that come of the bytes, given in pieces of a length. */
function groupsOf(bytes: Buffer, pieceLength: number): { bytes: Buffer; ends: boolean }[] {
  const queue = new MessageQueue();
  const groups: { bytes: Buffer; ends: boolean }[] = [];
  for (let at = 0; at < bytes.length; at += pieceLength) {
    queue.push(bytes.subarray(at, at + pieceLength));
    for (let group = queue.group(); group !== null; group = queue.group()) {
      groups.push({ bytes: Buffer.from(group.bytes), ends: group.ends });
      if (group.ends) return groups;
    }
  }
  return groups;
}

const bytesOf = (groups: readonly { bytes: Buffer }[]): Buffer => Buffer.concat(groups.map(({ bytes }) => bytes));

t.test("groups end where the client waits for an answer, wherever pieces end", (t) => {
  const extended = Buffer.concat([parse("", "SELECT $1"), bind("", "", ["x"]), execute(""), sync]);
  const all = Buffer.concat([query("SELECT 1"), extended, query("SELECT 2"), extended]);
  for (const length of [1, 2, 3, 5, 7, 64, all.length]) {
    const groups = groupsOf(all, length);
    t.ok(bytesOf(groups).equals(all), `pieces of ${length} bytes`);
    for (const { bytes } of groups)
      t.ok(bytes.subarray(-5).equals(sync) || bytes.at(-1) === 0, "ends with Sync or a query");
  }
  t.end();
});

t.test("what asks for an answer does not wait for what comes behind it", (t) => {
  const first = Buffer.concat([parse("", "SELECT 1"), bind("", ""), execute(""), sync]);
  const behind = parse("", "SELECT 2");
  t.ok(bytesOf(groupsOf(Buffer.concat([first, behind]), 1000)).equals(first));
  t.ok(bytesOf(groupsOf(Buffer.concat([first, behind.subarray(0, 3)]), 1000)).equals(first));
  t.end();
});

t.test("a long message behind short ones goes on its way", (t) => {
  for (const size of [250 * KIB, 300 * KIB, 5000 * KIB]) {
    const all = Buffer.concat([parse("", "SELECT $1"), bind("", "", ["x".repeat(size)]), execute(""), sync]);
    for (const length of [64 * KIB, all.length])
      t.ok(bytesOf(groupsOf(all, length)).equals(all), `${size} in ${length}`);
  }
  t.end();
});

t.test("Terminate ends the connection after what waits for an answer", (t) => {
  const goodbye = message("X");
  t.same(
    groupsOf(goodbye, 100).map(({ bytes, ends }) => [bytes.length, ends]),
    [[0, true]],
  );
  const groups = groupsOf(Buffer.concat([query("SELECT 1"), parse("", "SELECT 2"), goodbye]), 1000);
  t.same(
    groups.map(({ ends }) => ends),
    [false, true],
  );
  t.ok(groups[0]!.bytes.equals(query("SELECT 1")));
  t.end();
});

t.test("impossible lengths are refused", (t) => {
  const wrong = (length: number): Buffer => {
    const bytes = Buffer.from(query("SELECT 1"));
    bytes.writeInt32BE(length, 1);
    return bytes;
  };
  for (const length of [3, 0, -1, 0x7fffffff]) t.throws(() => groupsOf(wrong(length), 100), /length/);
  const queue = new MessageQueue();
  queue.push(message("p", "x".repeat(70 * KIB)));
  t.throws(() => queue.one(), /length/, "of a sign-in they are shorter");
  t.end();
});

t.test("bytes are copied a bounded number of times, however small the pieces", (t) => {
  const copied = (all: Buffer, pieceLength: number, take: (queue: MessageQueue) => unknown): number => {
    const queue = new MessageQueue();
    for (let at = 0; at < all.length; at += pieceLength) {
      queue.push(all.subarray(at, at + pieceLength));
      take(queue);
    }
    return queue.copiedBytes;
  };
  const group = (queue: MessageQueue): void => {
    while (queue.group() !== null);
  };
  const long = Buffer.concat([parse("", "SELECT $1"), bind("", "", ["x".repeat(2000 * KIB)]), execute(""), sync]);
  t.ok(copied(long, 100, group) < 4 * long.length, "one long message behind a short one");
  const many = Buffer.concat([...Array.from({ length: 4000 }, (_, i) => parse(`s${i}`, "SELECT 1")), sync]);
  t.ok(copied(many, 30, group) < 4 * many.length, "many short messages before an answer is asked for");
  const password = message("p", "x".repeat(60 * KIB));
  t.ok(copied(password, 7, (queue) => queue.one()) < 4 * password.length, "a message of the sign-in");
  t.end();
});
