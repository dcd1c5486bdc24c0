/**
 * Whether a history of appends to lists and reads of whole lists is strictly serializable, after Elle (Kingsbury and
 * Alvaro, VLDB 2020): every value is appended once, so a list tells the order of its writers, and reads tell which of
 * them they saw. From that follows which transaction must come before which; so must one that ended before the other
 * began. A cycle is a contradiction. Lists as they are at the end must be given for every key.
 */
import type { Transaction } from "./history.js";

/** What is wrong, in words; empty when all is well. */
export function problemsOf(
  transactions: readonly Transaction[],
  final: ReadonlyMap<string, readonly number[]>,
): string[] {
  const writers = writersOf(transactions);
  const problems = [...problemsOfLists(writers, final)];
  const committed = transactions.filter((one) => isCommitted(one, final));
  for (const one of committed) problems.push(...problemsOfReads(one, writers, final));
  if (problems.length > 0) return problems;
  return cyclesOf(committed, edgesOf(committed, writers, final));
}

type Writers = ReadonlyMap<string, Transaction>;

const nameOf = (key: string, value: number): string => `${key}/${value}`;

function writersOf(transactions: readonly Transaction[]): Writers {
  const writers = new Map<string, Transaction>();
  for (const one of transactions) {
    for (const operation of one.operations) {
      if (operation.kind === "append") writers.set(nameOf(operation.key, operation.value), one);
    }
  }
  return writers;
}

/** One without an answer was committed if anything of it is there. */
function isCommitted(one: Transaction, final: ReadonlyMap<string, readonly number[]>): boolean {
  if (one.ending !== "unknown") return one.ending === "committed";
  return one.operations.some(
    (operation) => operation.kind === "append" && final.get(operation.key)!.includes(operation.value),
  );
}

function* problemsOfLists(writers: Writers, final: ReadonlyMap<string, readonly number[]>): Generator<string> {
  for (const [key, list] of final) {
    if (new Set(list).size < list.length) yield `${key} holds a value twice: ${list}`;
    for (const value of list) {
      const writer = writers.get(nameOf(key, value));
      if (writer === undefined) yield `${key} holds ${value}, which nobody appended`;
      else if (writer.ending === "aborted")
        yield `${key} holds ${value} of transaction ${writer.id}, which was refused`;
    }
  }
  for (const [name, writer] of writers) {
    const [key, value] = [name.slice(0, name.lastIndexOf("/")), Number(name.slice(name.lastIndexOf("/") + 1))];
    const isThere = final.get(key)!.includes(value);
    if (writer.ending === "committed" && !isThere) {
      yield `${key} lost ${value}, which transaction ${writer.id} appended: it was acknowledged at ${writer.ended.toFixed(3)}`;
    }
    if (!isThere && isCommitted(writer, final))
      yield `transaction ${writer.id} is there by half: ${key} lacks ${value}`;
  }
}

function* problemsOfReads(
  one: Transaction,
  writers: Writers,
  final: ReadonlyMap<string, readonly number[]>,
): Generator<string> {
  for (const operation of one.operations) {
    if (operation.kind === "append") continue;
    const { key, list } = operation;
    const order = final.get(key)!;
    const isPrefix = list.length <= order.length && list.every((value, i) => value === order[i]);
    if (!isPrefix) {
      yield `transaction ${one.id} (${one.client}) read ${key} as [${list}], which is no beginning of [${order}]`;
      continue;
    }
    const last = writers.get(nameOf(key, list.at(-1) ?? -1));
    const next = writers.get(nameOf(key, order[list.length] ?? -1));
    if (last !== undefined && last === next && last !== one) {
      yield `transaction ${one.id} read ${key} as [${list}], in the middle of transaction ${last.id}`;
    }
  }
}

/** For each transaction those that come after it, with the reason. */
type Edges = Map<Transaction, Map<Transaction, string>>;

function edgesOf(
  committed: readonly Transaction[],
  writers: Writers,
  final: ReadonlyMap<string, readonly number[]>,
): Edges {
  const edges: Edges = new Map(committed.map((one) => [one, new Map()]));
  const add = (from: Transaction | undefined, to: Transaction | undefined, why: string): void => {
    if (from === undefined || to === undefined || from === to) return;
    const after = edges.get(from);
    if (after !== undefined && !after.has(to)) after.set(to, why);
  };
  for (const [key, list] of final) {
    for (let i = 1; i < list.length; i++) {
      add(
        writers.get(nameOf(key, list[i - 1]!)),
        writers.get(nameOf(key, list[i]!)),
        `ww ${key} ${list[i - 1]},${list[i]}`,
      );
    }
  }
  for (const one of committed) {
    for (const operation of one.operations) {
      if (operation.kind === "append") continue;
      const { key, list } = operation;
      const seen = list.findLast((value) => writers.get(nameOf(key, value)) !== one);
      const unseen = final
        .get(key)!
        .slice(list.length)
        .find((value) => writers.get(nameOf(key, value)) !== one);
      if (seen !== undefined) add(writers.get(nameOf(key, seen)), one, `wr ${key} ${seen}`);
      if (unseen !== undefined) add(one, writers.get(nameOf(key, unseen)), `rw ${key} ${unseen}`);
    }
  }
  addTime(committed, add);
  return edges;
}

/** An end before a beginning counts, where both are known. */
function addTime(
  committed: readonly Transaction[],
  add: (from: Transaction, to: Transaction, why: string) => void,
): void {
  for (const first of committed) {
    if (first.ending !== "committed") continue;
    for (const second of committed) if (first.ended < second.began) add(first, second, "time");
  }
}

/** Tarjan's strongly connected components; of each with more than one member a cycle is told. */
function cyclesOf(committed: readonly Transaction[], edges: Edges): string[] {
  const index = new Map<Transaction, number>();
  const low = new Map<Transaction, number>();
  const stack: Transaction[] = [];
  const onStack = new Set<Transaction>();
  const problems: string[] = [];
  const visit = (one: Transaction): void => {
    index.set(one, index.size);
    low.set(one, index.get(one)!);
    stack.push(one);
    onStack.add(one);
    for (const next of edges.get(one)!.keys()) {
      if (!index.has(next)) {
        visit(next);
        low.set(one, Math.min(low.get(one)!, low.get(next)!));
      } else if (onStack.has(next)) low.set(one, Math.min(low.get(one)!, index.get(next)!));
    }
    if (low.get(one) !== index.get(one)) return;
    const component = stack.splice(stack.indexOf(one));
    for (const member of component) onStack.delete(member);
    if (component.length > 1) problems.push(cycleOf(component, edges));
  };
  for (const one of committed) if (!index.has(one)) visit(one);
  return problems;
}

/** The shortest way from a member back to itself. */
function cycleOf(component: readonly Transaction[], edges: Edges): string {
  const members = new Set(component);
  let best: string | null = null;
  let length = Number.POSITIVE_INFINITY;
  for (const start of component) {
    const from = new Map<Transaction, Transaction>();
    const queue = [start];
    for (const one of queue) {
      for (const next of edges.get(one)!.keys()) {
        if (!members.has(next) || from.has(next)) continue;
        from.set(next, one);
        if (next !== start) queue.push(next);
      }
      if (from.has(start)) break;
    }
    const steps: string[] = [];
    for (let at = start; ; ) {
      const before = from.get(at)!;
      steps.unshift(`${before.id} -${edges.get(before)!.get(at)}-> ${at.id}`);
      at = before;
      if (at === start) break;
    }
    if (steps.length >= length) continue;
    length = steps.length;
    best = steps.join(", ");
  }
  return `no order of transactions explains: ${best}`;
}
