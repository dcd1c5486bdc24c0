/**
 * An answer that has seen a commit which the disk refused afterwards: a reader's request is done again, a writer's is
 * told.
 */
import t, { type Test } from "tap";
import { Answers } from "../../src/actor/answers.js";
import type { Handler } from "../../src/actor/handler.js";
import { OutputGate } from "../../src/actor/output-gate.js";
import type { Request } from "../../src/actor/request.js";
import { DbError, type ErrorCode } from "../../src/protocol/errors.js";
import type { ReplyWriter } from "../../src/protocol/frames.js";

function given(t: Test, code: ErrorCode, committed: boolean, canRepeat = true) {
  const gate = new OutputGate();
  gate.open(4);
  const statuses: number[] = [];
  const replies = { text: (_: number, status: number) => statuses.push(status) } as unknown as ReplyWriter;
  const request = {
    ...{ id: 1, requestId: "r", endpoint: { name: "query.execute", home: "tenant" }, head: { params: [] } },
    ...{ partition: { gate }, tenant: { lastCommit: 6 }, committed, cancelled: false, warnings: [], budget: null },
  } as unknown as Request;
  let times = 0;
  const again = canRepeat ? () => void times++ : null;
  new Answers(replies, () => {}).give(request, { json: "{}" }, again);
  t.same({ statuses, times }, { statuses: [], times: 0 }, "it waits");
  gate.refuse(5, new DbError(code));
  return { statuses, times };
}

t.test("what nobody has committed", async (t) => {
  t.same(given(t, "disk_full", false), { statuses: [], times: 1 }, "a reader's request is done again");
  t.same(given(t, "disk_full", true), { statuses: [507], times: 0 }, "a writer is told");
  t.same(given(t, "disk_full", false, false), { statuses: [507], times: 0 }, "so is who cannot ask again");
  t.same(given(t, "partition_damaged", false), { statuses: [503], times: 0 }, "another reason stays one");
});

/** `npm run types` refuses this file if the compiler takes an answer that the endpoint's schema does not. */
const WRONG: { readonly "vectors.collections.count": Handler<"vectors.collections.count"> } = {
  // @ts-expect-error: the schema has a number
  "vectors.collections.count": () => ({ plain: { count: "7" } }),
};

t.test("an answer of another type than the schema's is a compile error", (t) => {
  t.same(Object.keys(WRONG), ["vectors.collections.count"]);
  t.end();
});
