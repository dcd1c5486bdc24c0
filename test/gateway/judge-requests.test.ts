/** What becomes of requests in flight when their actor was ended: nothing twice, nothing lost that can be told. */
import t from "tap";
import type { PendingReply } from "../../src/gateway/actor-link.js";
import { judgeRequests } from "../../src/gateway/judge-requests.js";
import type { Repeatable } from "../../src/gateway/repeatable.js";
import { ActorMarks, type AtWork, MarksReader, newActorMarks } from "../../src/protocol/actor-marks.js";

const TENANT = 5;

function judged(write: (marks: ActorMarks) => void, isKnown = true) {
  const memory = newActorMarks();
  const marks = new ActorMarks(memory);
  marks.beat();
  write(marks);
  const reader = new MarksReader(memory);
  const culprit: AtWork | null = isKnown
    ? { request: 99, tenant: TENANT, statement: "", language: "sql", operator: 0 }
    : null;
  const judge = judgeRequests({ marks: reader, culprit, refusedSeconds: 60 });
  return (id: number, repeatable: Repeatable = "uncommitted", ofDirectory = false) =>
    judge(id, { repeatable, ofDirectory, suspicions: 0 } as PendingReply)?.code ?? "again";
}

t.test("by how far they had come", async (t) => {
  const fate = judged((marks) => {
    for (const id of [1, 2, 3, 4, 5, 6, 99]) marks.began(id, TENANT);
    marks.committed(1, true);
    marks.committed(2, false);
    marks.committed(5, false);
    marks.answerKept(5);
    marks.flushing();
    marks.flushed();
    marks.committed(3, true);
    marks.committed(1, true);
    marks.committed(6, true);
    marks.flushing();
  });
  t.equal(fate(99), "statement_stopped");
  t.equal(fate(1), "answer_lost", "committed");
  t.equal(fate(2), "answer_lost", "in part");
  t.equal(fate(6), "answer_lost", "while the log was written");
  t.equal(fate(3), "answer_lost", "while the log was written");
  t.equal(fate(4), "again", "begun");
  t.equal(fate(5), "again", "its answer is kept beside it");
  t.equal(fate(7), "again", "not begun");
  t.equal(fate(1, "always"), "again", "it can be asked as often as one likes");
  t.equal(fate(4, "never"), "partition_unavailable");
});

t.test("a commit that never went to the log is none", async (t) => {
  const fate = judged((marks) => {
    marks.began(1, TENANT);
    marks.flushing();
    marks.flushed();
    marks.committed(1, true);
  });
  t.equal(fate(1), "again");
});

t.test("what is certain is told", async (t) => {
  const memory = newActorMarks();
  const marks = new ActorMarks(memory);
  for (const id of [1, 2]) marks.began(id, TENANT);
  marks.committed(1, true);
  marks.committed(2, false);
  marks.flushing();
  marks.flushed();
  const judge = judgeRequests({ marks: new MarksReader(memory), culprit: null, refusedSeconds: 60 });
  const reply = { repeatable: "uncommitted", ofDirectory: false, suspicions: 0 } as PendingReply;
  t.strictSame(judge(1, reply)?.details, { committed: true });
  t.strictSame(judge(2, reply)?.details, { committed: null });
});

t.test("the directory commits by itself", async (t) => {
  const fate = judged((marks) => {
    marks.began(1, 0);
    marks.directoryCommits();
    marks.flushing();
    marks.flushed();
    marks.began(2, 0);
  });
  t.equal(fate(1, "uncommitted", true), "answer_lost");
  t.equal(fate(2, "uncommitted", true), "again");
  t.equal(fate(1, "uncommitted", false), "again", "another's commit");
});

t.test("where nobody knows who it was, whoever was at work twice is suspected", async (t) => {
  const memory = newActorMarks();
  new ActorMarks(memory).began(1, TENANT);
  const judge = judgeRequests({ marks: new MarksReader(memory), culprit: null, refusedSeconds: 60 });
  const reply = { repeatable: "always", ofDirectory: false, suspicions: 0 } as PendingReply;
  t.equal(judge(1, reply), null);
  t.equal(judge(1, reply)?.code, "statement_stopped");
  const waiting = { ...reply, suspicions: 5 } as PendingReply;
  t.equal(judge(2, waiting), null, "it had not begun");
});

t.test("a place that a later request took tells nothing of the earlier one", async (t) => {
  const fate = judged((marks) => {
    marks.began(3, TENANT);
    marks.began(3 + 16_384, TENANT);
  });
  t.equal(fate(3), "answer_lost");
  t.equal(fate(3 + 2 * 16_384), "again", "and of a still later one that it has not begun");
});
