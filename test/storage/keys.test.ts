/** Pins the bytes of the key layout: they are stored, so a change here needs a new format version. */
import t from "tap";
import * as keys from "../../src/storage/keys.js";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

t.test("every kind of key has these bytes", async (t) => {
  t.equal(hex(keys.tenantPrefix(7)), "00000007");
  t.equal(hex(keys.catalogPrefix(7)), "0000000701");
  t.equal(hex(keys.catalogKey(7, "tablé")), "00000007017461626cc3a9");
  t.equal(hex(keys.rowPrefix(7, 0x01020304)), "000000070201020304");
  t.equal(hex(keys.indexPrefix(0xfffffffe, 2, 3)), "fffffffe030000000200000003");
  t.equal(hex(keys.sequenceKey(7, 9)), "000000070400000009");
  t.equal(hex(keys.idempotencyKey(7, "k-1")), "00000007056b2d31");
  t.equal(hex(keys.directoryKey("user", "a")), "0000000006757365720061");
  t.equal(hex(keys.directoryPrefix("user")), "00000000067573657200");
  t.equal(hex(keys.APPLIED_SEQUENCE_KEY), "00000000006170706c6965642d73657175656e6365");
});

t.test("a prefix's range holds exactly the keys that start with it", async (t) => {
  t.equal(hex(keys.prefixEnd(Buffer.from("0102", "hex"))), "0103");
  t.equal(hex(keys.prefixEnd(Buffer.from("01ffff", "hex"))), "02");
  t.throws(() => keys.prefixEnd(Buffer.from("ffff", "hex")), RangeError);
  const { gte, lt, reverse } = keys.prefixRange(keys.rowPrefix(1, 0xff), true);
  t.equal(hex(gte), "0000000102000000ff");
  t.equal(hex(lt), "000000010200000100".slice(0, 16));
  t.equal(reverse, true);
});
