/** Until all nodes of a cluster have heard of a change, only those who may have made it wait for their answers. */
import t, { type Test } from "tap";
import { ActorLink, type ActorPort, type PendingReply } from "../../src/gateway/actor-link.js";
import type { Repeatable } from "../../src/gateway/repeatable.js";
import { REPLAYED, ReplyWriter } from "../../src/protocol/frames.js";
import type { FromActor, IdentityQuery, ToActor } from "../../src/protocol/messages.js";

/** A link whose actor's thread is the test. */
class Ends {
  readonly told: string[] = [];
  readonly orders: string[] = [];
  readonly link = new ActorLink(0, (message) => this.orders.push(message.kind));
  private say: (message: unknown) => void = () => undefined;
  private question = 0;
  asked = 0;

  constructor() {
    const port: ActorPort = {
      postMessage: (message) => {
        if ((message as ToActor).kind !== "find-identity") return;
        this.question = (message as IdentityQuery).id;
        this.asked++;
      },
      on: (event: string, listener: (value: never) => void) => {
        if (event === "message") this.say = listener as (message: unknown) => void;
      },
      terminate: async () => undefined,
    };
    this.link.attach(port);
    this.link.state = "ready";
  }

  ask(name: string, ofDirectory: boolean): number {
    const pending: PendingReply = {
      ...{ keptIn: null, suspicions: 0, requestId: "r", tenantId: null, ofDirectory },
      repeatable: "never" satisfies Repeatable,
      replied: ({ body }) => this.told.push(`${name}: ${body}`),
      progressed: () => undefined,
      lost: () => this.told.push(`${name} is lost`),
    };
    return this.link.send(pending, 1, 0, 0, 1, Date.now() + 5000, "r", "", null);
  }

  answer(...ids: number[]): void {
    this.reply(ids, "");
  }

  replay(...ids: number[]): void {
    this.reply(ids, REPLAYED);
  }

  private reply(ids: readonly number[], headers: string): void {
    const replies = new ReplyWriter();
    for (const id of ids) replies.text(id, 200, 0, headers, `done ${id}`);
    this.say(replies.take());
  }

  /** Gives how to answer it. */
  find(by: "key" | "token"): () => void {
    this.link.findIdentity(by, by, (identity) => this.told.push(`${by}: ${identity === null}`));
    const id = this.question;
    return () => this.order({ kind: "identity", id, identity: null });
  }

  order(message: FromActor): void {
    this.say(message);
  }

  /** Gives how all nodes hear of it. */
  change(): () => Promise<void> {
    let resolve!: () => void;
    this.link.changedUntil(new Promise<void>((done) => (resolve = done)));
    return async () => {
      resolve();
      await new Promise((done) => setImmediate(done));
    };
  }
}

const restore = (t: Test): FromActor => {
  t.comment("an order to another partition");
  return { kind: "backup-answer", partition: 1, answer: {} as never };
};

t.test("only who may have made the change waits", async (t) => {
  const ends = new Ends();
  const [own, rows] = [ends.ask("own", true), ends.ask("rows", false)];
  const [byKey, byToken] = [ends.find("key"), ends.find("token")];
  const heard = ends.change();
  const later = ends.ask("later", true);
  ends.answer(own, rows, later);
  byKey();
  byToken();
  ends.order({ kind: "audit-kept", outbox: "o", upTo: 1 });
  ends.order(restore(t));
  t.same(ends.told, [`rows: done ${rows}`, `later: done ${later}`, "key: true"]);
  t.same(ends.orders, ["audit-kept"]);
  await heard();
  t.same(ends.told.slice(3), [`own: done ${own}`, "token: true"]);
  t.same(ends.orders, ["audit-kept", "backup-answer"]);
});

t.test("a repeat that gets the kept answer waits for all changes", async (t) => {
  const ends = new Ends();
  const own = ends.ask("own", true);
  const heard = ends.change();
  ends.answer(own);
  const [again, rows, late] = [ends.ask("again", true), ends.ask("rows", false), ends.ask("late", true)];
  ends.replay(again, rows);
  t.same(ends.told, [`rows: done ${rows}`]);
  const second = ends.change();
  ends.replay(late);
  await second();
  t.equal(ends.told.length, 1);
  await heard();
  t.same(ends.told.slice(1).sort(), [`again: done ${again}`, `late: done ${late}`, `own: done ${own}`]);
});

t.test("who may have made two changes waits for both", async (t) => {
  const ends = new Ends();
  const own = ends.ask("own", true);
  const [first, second] = [ends.change(), ends.change()];
  ends.answer(own);
  ends.order(restore(t));
  await second();
  t.same([ends.told, ends.orders], [[], []]);
  await first();
  t.same([ends.told, ends.orders], [[`own: done ${own}`], ["backup-answer"]]);
});

t.test("who somebody is, is asked again where the answer was kept past another change", async (t) => {
  const ends = new Ends();
  const byToken = ends.find("token");
  const first = ends.change();
  byToken();
  const second = ends.change();
  await first();
  t.same([ends.told, ends.asked], [[], 1], "the question may have made the second change, too");
  await second();
  t.same([ends.told, ends.asked], [[], 2]);
  byToken();
  t.same(ends.told, ["token: true"], "that answer is of now");
  byToken();
  t.equal(ends.told.length, 1);
});

t.test("what a partition said is passed on before word that it left", async (t) => {
  const ends = new Ends();
  const heard = ends.change();
  ends.order(restore(t));
  ends.order({ kind: "partition-leaving", partition: 0 });
  t.same(ends.orders, []);
  await heard();
  t.same(ends.orders, ["backup-answer", "partition-leaving"]);
});

t.test("what a thread said that has ended is not told by the next one", async (t) => {
  const ends = new Ends();
  const own = ends.ask("own", true);
  const heard = ends.change();
  ends.answer(own);
  ends.order(restore(t));
  ends.link.detach("restarting");
  t.same(ends.told, ["own is lost"]);
  await heard();
  t.same([ends.told, ends.orders], [["own is lost"], []]);
});
