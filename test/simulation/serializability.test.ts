/** The checker finds what it is for: known anomalies, and nothing in histories that are in order. */
import t from "tap";
import type { Ending, Operation, Transaction } from "./history.js";
import { problemsOf } from "./serializability.js";

let next = 0;
function transaction(text: string, ending: Ending = "committed", began = 0, ended = 100): Transaction {
  const operations = text.split(" ").map((word): Operation => {
    const [, key, value] = /^(\w)(.*)$/.exec(word) as unknown as [string, string, string];
    if (value.startsWith("+")) return { kind: "append", key, value: Number(value.slice(1)) };
    return { kind: "read", key, list: value.slice(1).split(",").filter(Boolean).map(Number) };
  });
  return { id: ++next, client: "c", began, ended, ending, operations };
}

const final = (x: number[], y: number[] = []) =>
  new Map([
    ["x", x],
    ["y", y],
  ]);

t.test("histories that are in order", async (t) => {
  t.same(
    problemsOf([transaction("x= x+1"), transaction("x=1 x+2 y+9"), transaction("y=9 x=1,2")], final([1, 2], [9])),
    [],
  );
  t.same(
    problemsOf([transaction("x+1 x=1"), transaction("x+2", "unknown"), transaction("x+3", "aborted")], final([1])),
    [],
  );
});

t.test("anomalies", async (t) => {
  const found = (transactions: Transaction[], lists: Map<string, number[]>) =>
    problemsOf(transactions, lists).join("; ");
  t.match(found([transaction("x+1")], final([])), /lost 1/);
  t.match(found([transaction("x+1", "aborted")], final([1])), /refused/);
  t.match(found([transaction("x+1")], final([1, 1])), /twice/);
  t.match(found([transaction("x+1"), transaction("x=7")], final([1])), /no beginning/);
  t.match(found([transaction("x+1 y+2", "unknown")], final([1])), /by half/);
  t.match(found([transaction("x+1 x+2"), transaction("x=1")], final([1, 2])), /in the middle/);
  t.match(found([transaction("x= y+1"), transaction("y= x+2")], final([2], [1])), /no order.*rw/, "write skew");
  t.match(found([transaction("x= x+1"), transaction("x= x+2")], final([1, 2])), /no order/, "lost update");
  const stale = [transaction("x+1", "committed", 0, 10), transaction("x=", "committed", 20, 30)];
  t.match(found(stale, final([1])), /no order.*time/, "a stale read");
  t.match(found([transaction("x+1 y+2"), transaction("x=1 y=")], final([1], [2])), /no order/, "a fractured read");
});
