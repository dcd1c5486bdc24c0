/** What requests of PostgreSQL's protocol and of Bolt cost of their tenant's limit. */
import t from "tap";
import { wireCharge } from "../../src/protocol/wire-charge.js";

const OWN = { perSecond: 1, burst: 1 };
const off = { postgres: { defaultRateLimit: false }, bolt: { defaultRateLimit: false } };
const on = { postgres: { defaultRateLimit: true }, bolt: { defaultRateLimit: true } };

/** Of Bolt: only the tag matters. */
const bolt = (...tags: number[]) => Buffer.concat(tags.map((tag) => Buffer.from([2, 0, 0, 0, 0xb1, tag])));

t.test("PostgreSQL's messages cost one token, rows of a COPY none", (t) => {
  t.equal(wireCharge("postgres.messages", Buffer.from("Q"), OWN, off), 1);
  t.equal(wireCharge("postgres.messages", Buffer.from("d"), OWN, off), 0);
  t.equal(wireCharge("postgres.open", Buffer.from("Q"), OWN, off), 0);
  t.equal(wireCharge("postgres.close", Buffer.alloc(0), OWN, on), 0);
  t.end();
});

t.test("each statement of Bolt's messages costs one", (t) => {
  t.equal(wireCharge("bolt.messages", bolt(0x10, 0x3f, 0x10, 0x3f), OWN, off), 2);
  t.equal(wireCharge("bolt.messages", bolt(0x3f), OWN, off), 0);
  t.equal(wireCharge("bolt.open", bolt(0x10), OWN, off), 0);
  t.end();
});

t.test("tenants without a limit of their own pay where the configuration says so", (t) => {
  for (const [limits, tokens] of [[off, 0] as const, [on, 1] as const]) {
    t.equal(wireCharge("postgres.messages", Buffer.from("Q"), null, limits), tokens);
    t.equal(wireCharge("bolt.messages", bolt(0x10), null, limits), tokens);
  }
  t.end();
});
