/** Sequences and repetition of statements, any of which may have to wait. */
import { CONTINUE, EXIT, type Frame, NORMAL, type Run, type Signal } from "./frame.js";

/** Statements one after another until one does not end normally. */
export function sequence(statements: readonly Run[]): Run {
  if (statements.length === 1) return statements[0]!;
  return (frame) => runFrom(statements, 0, frame);
}

function runFrom(statements: readonly Run[], from: number, frame: Frame): Signal | Promise<Signal> {
  for (let i = from; i < statements.length; i++) {
    const signal = statements[i]!(frame);
    if (signal instanceof Promise) {
      return signal.then((done) => (done === NORMAL ? runFrom(statements, i + 1, frame) : done));
    }
    if (signal !== NORMAL) return signal;
  }
  return NORMAL;
}

/** What a turn of a loop answers when another one is to follow. */
export const AGAIN = -1;
export type Turn = Signal | typeof AGAIN;

/** Turns between two looks at the clock. */
const TURNS_PER_CHECK = 64;

/** Repeats until a turn answers with a signal. Gives the actor's loop its turns and ends at the deadline. */
export function repeat(frame: Frame, turn: () => Turn | Promise<Turn>): Signal | Promise<Signal> {
  const { context } = frame.invocation;
  for (let i = 1; ; i++) {
    const result = turn();
    if (result instanceof Promise) return repeatLater(frame, result, turn);
    if (result !== AGAIN) return result;
    if (i % TURNS_PER_CHECK === 0) {
      context.checkpoint();
      if (context.shouldYield())
        return repeatLater(
          frame,
          context.yieldTurn().then(() => AGAIN as Turn),
          turn,
        );
    }
  }
}

async function repeatLater(frame: Frame, first: Promise<Turn>, turn: () => Turn | Promise<Turn>): Promise<Signal> {
  const { context } = frame.invocation;
  let result = await first;
  for (let i = 1; result === AGAIN; i++) {
    if (i % TURNS_PER_CHECK === 0) {
      context.checkpoint();
      if (context.shouldYield()) await context.yieldTurn();
    }
    const next = turn();
    result = next instanceof Promise ? await next : next;
  }
  return result;
}

/** What the end of a loop's body means for the loop. */
export function turnOf(signal: Signal, label: string | null, frame: Frame): Turn {
  if (signal === NORMAL) return AGAIN;
  const isMine = frame.label === null || frame.label === label;
  if (signal === CONTINUE && isMine) return AGAIN;
  if (signal === EXIT && isMine) return NORMAL;
  return signal;
}

/** The turn that a body makes. */
export function bodyTurn(body: Run, label: string | null, frame: Frame): Turn | Promise<Turn> {
  const signal = body(frame);
  return signal instanceof Promise ? signal.then((done) => turnOf(done, label, frame)) : turnOf(signal, label, frame);
}
