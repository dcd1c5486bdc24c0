/** MERGE into tables with triggers: as merge.ts, with each row's change made by TriggeredRows. Called by merge.ts. */
import type { TriggerEvent } from "../../catalog/trigger.js";
import { sqlError } from "../../protocol/errors.js";
import { keyText } from "../../storage/ordered-map.js";
import type { Value } from "../../values/values.js";
import type { MergePlan } from "../plan/change-plans.js";
import type { ExecContext } from "./context.js";
import type { Action, MergeProgram } from "./merge-program.js";
import { after, drain, inOrder, type Open, type Operator } from "./operator.js";
import { type ChangedRows, modifying, type ReturningProgram } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { requirePolicies } from "./row-checks.js";
import { isChangedMeanwhile } from "./statement-snapshot.js";
import type { Row } from "./table-writer.js";
import {
  compileTriggered,
  type Permit,
  type StoredRow,
  type TriggeredProgram,
  TriggeredRows,
} from "./triggered-rows.js";

export function compileTriggeredMerge(merge: MergeProgram, returning: ReturningProgram | null, input: Open): Open {
  const { plan } = merge;
  const events = [...new Set(plan.actions.map(({ action }) => action))].filter(
    (action): action is TriggerEvent & typeof action => action !== "nothing",
  );
  const assigned = plan.actions.flatMap(({ action, assignments }) => (action === "update" ? assignments : []));
  const program = compileTriggered(plan, events, assigned, plan, merge.routes);
  return modifying(
    input,
    returning,
    (operator, context) => new TriggeredMerger(plan, merge, program, operator, context),
  );
}

class TriggeredMerger {
  private readonly input: RowBuffer;
  private readonly rows: TriggeredRows;
  /** New rows (of DELETE the old ones) by live column, parallel to the input's rows. */
  private readonly shown: Value[][];
  private readonly actions: Value[] = [];
  private readonly changed: number[] = [];
  private readonly seen = new Set<string>();
  private records: readonly (Uint8Array | undefined)[] | null = null;

  constructor(
    plan: MergePlan,
    private readonly merge: MergeProgram,
    program: TriggeredProgram,
    private readonly source: Operator,
    private readonly context: ExecContext,
  ) {
    this.input = new RowBuffer(plan.input.columns, context);
    this.rows = new TriggeredRows(program, context);
    this.shown = emptyColumns(merge.columnIds.length);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { input, rows, context, merge, changed } = this;
    const result: ChangedRows = { columns: [...this.shown, ...input.columns, this.actions], rows: changed };
    return rows.around(() =>
      drain(
        this.source,
        (batch) => input.append(batch),
        () => {
          this.records = rows.recordsOf(input.columns[merge.rowKeySlot]!);
          return inOrder(context, input.length, this.decide, () => rows.flush(() => result));
        },
      ),
    );
  }

  release(): void {
    this.input.release();
  }

  private readonly decide = (number: number): void | Promise<void> => {
    const { merge, input, shown, context, seen } = this;
    for (const column of shown) column[number] = null;
    const key = input.columns[merge.rowKeySlot]![number] as Uint8Array | null;
    const inSource = input.columns[merge.inSourceSlot]![number] === true;
    const match = key === null ? "not matched by target" : inSource ? "matched" : "not matched by source";
    const action = merge.actions.find(
      (other) => other.match === match && (other.condition === null || other.condition(input, number, context)),
    );
    if (action === undefined || action.kind === "nothing") return;
    if (key === null) return this.insert(action, number);
    const text = keyText(key);
    if (seen.has(text)) {
      throw sqlError("21000", "MERGE command cannot affect row a second time", {
        hint: "Ensure that not more than one source row matches any one target row.",
      });
    }
    seen.add(text);
    if (isChangedMeanwhile(context, key)) return;
    requirePolicies(action.policies?.using, input, number, context);
    const record = this.records === null ? null : this.records[number];
    return action.kind === "delete" ? this.remove(key, record, number) : this.update(action, key, record, number);
  };

  private insert({ newValues, policies }: Action, number: number): void | Promise<void> {
    const { input, context } = this;
    const values = newValues.map((evaluate) => (evaluate === null ? null : evaluate(input, number, context)));
    return after(this.rows.insert(values, permitOf(policies, context)), (stored) =>
      this.show("INSERT", number, stored),
    );
  }

  private update(
    { newValues, policies }: Action,
    key: Uint8Array,
    record: Uint8Array | undefined | null,
    number: number,
  ): void | Promise<void> {
    const { input, context } = this;
    const compute = (row: Row, columnIds: readonly number[]): void => {
      for (const [c, evaluate] of newValues.entries()) {
        if (evaluate !== null) row[columnIds[c]!] = evaluate(input, number, context);
      }
    };
    const stored = this.rows.update(key, record, compute, permitOf(policies, context));
    return after(stored, (changed) => this.show("UPDATE", number, changed));
  }

  private remove(key: Uint8Array, record: Uint8Array | undefined | null, number: number): void | Promise<void> {
    const { input, shown, merge } = this;
    return after(this.rows.remove(key, record), (goes) => {
      if (!goes) return;
      for (let c = 0; c < shown.length; c++) shown[c]![number] = input.columns[merge.oldSlots[c]!]![number]!;
      this.note("DELETE", number);
    });
  }

  private show(what: string, number: number, stored: StoredRow | null): void {
    if (stored === null) return;
    const { columnIds } = stored.member.program;
    for (let c = 0; c < this.shown.length; c++) this.shown[c]![number] = stored.row[columnIds[c]!]!;
    this.note(what, number);
  }

  private note(what: string, number: number): void {
    this.actions[number] = what;
    this.changed.push(number);
  }
}

function permitOf(policies: Action["policies"], context: ExecContext): Permit | null {
  if (policies === null) return null;
  return (values) =>
    requirePolicies(policies.checks, { columns: values.map((value) => [value]), length: 1 }, 0, context);
}
