/** The meaning of names in a PL/pgSQL body: variables by block, innermost first. Made while a body is compiled. */
import { sqlError } from "../../../protocol/errors.js";
import type { Expr } from "../../../query/expr/expr.js";
import { RECORD, type SqlType } from "../../../values/values.js";
import type { FoundVariable, Variables } from "../../bind/bound-statement.js";
import { fieldOf } from "../../bind/sql-body.js";
import type { PlCursor } from "../../parse/plpgsql-ast.js";
import type { Frame } from "./frame.js";

export interface Variable {
  readonly name: string;
  readonly slot: number;
  /** null: of type record, which takes the type of what is assigned. */
  readonly type: SqlType | null;
  readonly constant: boolean;
  readonly notNull: boolean;
  readonly cursor?: PlCursor;
  /** Of OLD and NEW: the one that has the OID of their table. */
  readonly tableOid?: Variable;
}

/** Slots of a body; shared by its blocks. */
export class Slots {
  count = 0;
  /** Of `$1`, …: the parameters, in order. */
  readonly parameters: Variable[] = [];

  add(name: string, type: SqlType | null, traits: Partial<Variable> = {}): Variable {
    return { constant: false, notNull: false, ...traits, name, type, slot: this.count++ };
  }
}

/** A record variable's slot and the type that it had when an expression was bound. */
export type RecordUse = readonly [slot: number, type: SqlType | null];

export class Namespace {
  private readonly names = new Map<string, Variable>();

  constructor(
    readonly slots: Slots,
    readonly parent: Namespace | null,
    readonly label: string | null,
    readonly conflict: Variables["conflict"],
  ) {}

  define(name: string, variable: Variable): void {
    this.names.set(name, variable);
  }

  /** The names that are known so far; what is defined later is not seen in it. */
  soFar(): Namespace {
    const copy = new Namespace(this.slots, this.parent, this.label, this.conflict);
    for (const [name, variable] of this.names) copy.define(name, variable);
    return copy;
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  inner(label: string | null): Namespace {
    return new Namespace(this.slots, this, label, this.conflict);
  }

  /** The variable that a path begins with, and how many parts of the path name it. */
  find(path: readonly string[]): { readonly variable: Variable; readonly used: number } | null {
    const first = path[0]!;
    const parameter = /^\$(\d+)$/.exec(first);
    if (parameter !== null) {
      const variable = this.slots.parameters[Number(parameter[1]) - 1];
      return variable === undefined ? null : { variable, used: 1 };
    }
    for (let at: Namespace | null = this; at !== null; at = at.parent) {
      const variable = at.names.get(first);
      if (variable !== undefined) return { variable, used: 1 };
      if (at.label === first && path.length > 1) {
        const labelled = at.names.get(path[1]!);
        if (labelled !== undefined) return { variable: labelled, used: 2 };
      }
    }
    return null;
  }

  /** For the binder; `uses` takes the records that a name led to. */
  variables(frame: Frame, uses: RecordUse[]): Variables {
    // A record that was not assigned yet is NULL as a whole, and has no fields.
    const read = ({ slot, type }: Variable): Expr => {
      const known = type ?? frame.types[slot] ?? null;
      if (type === null) uses.push([slot, known]);
      return Object.freeze({ kind: "param", type: known ?? RECORD, index: slot });
    };
    const requireAssigned = ({ slot, type, name }: Variable): void => {
      if (type !== null || (frame.types[slot] ?? null) !== null) return;
      throw sqlError("55000", `record "${name}" is not assigned yet`, {
        detail: "The tuple structure of a not-yet-assigned record is indeterminate.",
      });
    };
    const systemColumn = ({ tableOid }: Variable, name: string): FoundVariable | null =>
      tableOid === undefined || name !== "tableoid" ? null : { name, expr: read(tableOid) };
    return {
      conflict: this.conflict,
      parameter: (index) => {
        const variable = this.slots.parameters[index];
        return variable === undefined ? null : read(variable);
      },
      find: (path): FoundVariable | null => {
        const found = this.find(path);
        if (found === null) return null;
        const { variable, used } = found;
        const rest = path.slice(used);
        if (rest.length === 0) return { name: variable.name, expr: read(variable) };
        const isRow = variable.type === null || variable.type.fields !== undefined;
        if (rest.length > 1 || !isRow) return null;
        requireAssigned(variable);
        const field = fieldOf(read(variable), rest[0]!) ?? systemColumn(variable, rest[0]!);
        if (field === null) throw sqlError("42703", `record "${variable.name}" has no field "${rest[0]}"`);
        return field;
      },
    };
  }
}
