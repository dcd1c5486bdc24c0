/**
 * Cursors as the bodies of functions open them: those of the session, which its statements may fetch from until the
 * transaction ends. Owned by the session's routine host.
 */
import { sqlError } from "../protocol/errors.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import type { CursorMove, CursorQuery, FetchedRow, RoutineCursors } from "../sql/routine/host.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import type { ExecutionScope } from "./execution-scope.js";
import type { SessionCursors } from "./session-cursors.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";

export class SessionRoutineCursors implements RoutineCursors {
  private unnamed = 0;

  constructor(
    private readonly scope: ExecutionScope,
    private readonly cursors: SessionCursors,
  ) {}

  open(given: string | null, { plan, params, text }: CursorQuery, context: ExecContext): string {
    const { bound } = plan;
    if (bound.kind !== "declare cursor") throw new Error(`${bound.kind} is no cursor's query`);
    const { scope, cursors } = this;
    const name = given ?? this.freeName();
    if (cursors.has(name)) throw sqlError("42P03", `cursor "${name}" already in use`);
    scope.requireRunnable(bound.statement);
    const planned = plan as StatementPlan;
    const own = scope.contextFor(context.tx as ShardTransaction, cursors.fetcher, params, planned.graph);
    const depth = scope.block.savepointNames.length;
    void cursors.on(clientOf(context), () =>
      cursors.noteOpened(cursors.declare({ ...bound, name }, planned, text, own, depth)),
    );
    return name;
  }

  private freeName(): string {
    let name: string;
    do name = `<unnamed portal ${++this.unnamed}>`;
    while (this.cursors.has(name));
    return name;
  }

  fetch(name: string, move: CursorMove, context: ExecContext): FetchedRow | Promise<FetchedRow> {
    const { cursors } = this;
    const cursor = cursors.find(name);
    cursors.noteMoved(cursor);
    let row: readonly Value[] | null = null;
    const fetched = cursors.on(clientOf(context), () =>
      cursor.fetch({ kind: "fetch", name, isMove: false, ...move }, ({ columns, length }) => {
        row = columns.map((column) => column[length - 1]!);
      }),
    );
    const { outputs } = cursor.plan.shape!;
    return after(fetched, (count) => ({ count, columns: outputs, row }));
  }

  pin(name: string): void {
    this.cursors.find(name).isPinned = true;
  }

  close(name: string): void {
    this.cursors.closeInStatement(name);
  }
}

function clientOf({ checkpoint, shouldYield, yieldTurn, signal }: ExecContext): Client {
  return { checkpoint, shouldYield, yieldTurn, signal };
}
