/**
 * A trigger function in PL/pgSQL, compiled for one trigger: NEW and OLD are rows of it, TG_… say what happened.
 * (PostgreSQL's manual, chapter 43.10.) Called by routine-runner.ts.
 */
import type { FunctionDef } from "../../../catalog/function.js";
import { sqlError } from "../../../protocol/errors.js";
import type { TriggerAnswer } from "../../../query/exec/context.js";
import { after } from "../../../query/exec/operator.js";
import type { TriggerFiring, TriggerRelation } from "../../../query/exec/trigger-firing.js";
import { displayName, oidOfId } from "../../../query/expr/types.js";
import {
  arrayOf,
  BOOL,
  INT4,
  NAME,
  OID,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import type { PlBody } from "../../parse/plpgsql-ast.js";
import { parsePlpgsql } from "../../parse/plpgsql-parser.js";
import type { Invocation } from "../prepared-routine.js";
import { compileBlock } from "./compile-block.js";
import { compileStatements } from "./compile-statement.js";
import type { Compiler, ResultKind } from "./compiler.js";
import { Conversions } from "./conversions.js";
import { Frame, RETURN, type Run, type Signal } from "./frame.js";
import { Namespace, Slots, type Variable } from "./namespace.js";

interface Compiled {
  readonly epoch: string;
  readonly run: Run;
  readonly slots: Slots;
  readonly rowType: SqlType;
  readonly before: Variable;
  readonly after: Variable;
  readonly found: Variable;
  /** TG_…, in the order of FACTS. */
  readonly facts: readonly Variable[];
  readonly conversions: Conversions;
}

const FACTS: readonly {
  readonly name: string;
  readonly type: SqlType;
  readonly of: (firing: TriggerFiring) => Value;
}[] = [
  { name: "tg_name", type: NAME, of: ({ trigger }) => trigger.name },
  { name: "tg_when", type: TEXT, of: ({ trigger }) => trigger.timing.toUpperCase() },
  { name: "tg_level", type: TEXT, of: ({ trigger }) => trigger.level.toUpperCase() },
  { name: "tg_op", type: TEXT, of: ({ event }) => event.toUpperCase() },
  { name: "tg_relid", type: OID, of: ({ relation }) => oidOfId(relation.id) },
  { name: "tg_relname", type: NAME, of: ({ relation }) => relation.name },
  { name: "tg_table_name", type: NAME, of: ({ relation }) => relation.name },
  { name: "tg_table_schema", type: NAME, of: ({ relation }) => relation.schema },
  { name: "tg_nargs", type: INT4, of: ({ trigger }) => trigger.args.length },
  { name: "tg_argv", type: arrayOf(TEXT), of: ({ trigger }) => argumentsOf(trigger.args) },
];

/** TG_ARGV counts from 0. */
function argumentsOf(args: readonly string[]): SqlArray | null {
  return args.length === 0 ? null : { dimensions: [args.length], lowerBounds: [0], elements: [...args] };
}

const RESULT: ResultKind = { form: "trigger", type: null, outputs: [] };

export class PlpgsqlTrigger {
  private readonly body: PlBody;
  private compiled: Compiled | null = null;

  constructor(private readonly definition: FunctionDef) {
    this.body = parsePlpgsql(definition.body);
  }

  /** The row that the function returns, by the relation's columns; of a statement trigger nothing. */
  fire(firing: TriggerFiring, invocation: Invocation): TriggerAnswer | Promise<TriggerAnswer> {
    const epoch = invocation.host.epoch(invocation.context);
    if (this.compiled?.epoch !== epoch) this.compiled = this.compile(epoch, firing, invocation);
    const { compiled } = this;
    const { slots, rowType, before, after: next, found, facts, run } = compiled;
    const frame = new Frame(slots.count, invocation, rowType);
    FACTS.forEach((fact, i) => {
      frame.values[facts[i]!.slot] = fact.of(firing);
    });
    frame.values[found.slot] = false;
    for (const [variable, row] of [
      [before, firing.before],
      [next, firing.after],
    ] as const) {
      frame.values[variable.slot] = row;
      // A row that is not there reads as NULL, also where the trigger is for the whole statement.
      frame.types[variable.slot] = rowType;
    }
    return after(run(frame), (signal) => this.answer(signal, frame, firing, compiled));
  }

  private answer(signal: Signal, frame: Frame, { trigger }: TriggerFiring, compiled: Compiled): TriggerAnswer {
    if (signal !== RETURN) throw sqlError("2F005", "control reached end of trigger procedure without RETURN");
    // What the others return is of no use.
    if (trigger.level === "statement" || trigger.timing === "after" || frame.result === null) return null;
    const given = frame.resultType!;
    const row = frame.result as readonly Value[];
    const { rowType, conversions } = compiled;
    if (given === rowType) return row;
    const fields = given.fields ?? [];
    const wanted = rowType.fields!;
    const message = "returned row structure does not match the structure of the triggering table";
    if (fields.length !== wanted.length) {
      const detail = `Number of returned columns (${fields.length}) does not match expected column count (${wanted.length}).`;
      throw sqlError("42804", message, { detail });
    }
    return wanted.map(({ type }, i) => {
      const from = fields[i]!.type;
      if (from.name === type.name) return conversions.convert(row[i]!, from, type, frame);
      const detail = `Returned type ${displayName(from)} does not match expected type ${displayName(type)} in column ${i + 1}.`;
      throw sqlError("42804", message, { detail });
    });
  }

  private compile(epoch: string, firing: TriggerFiring, { host, context }: Invocation): Compiled {
    const { definition, body } = this;
    const slots = new Slots();
    const outermost = new Namespace(slots, null, definition.name, body.conflict);
    const define = (name: string, type: SqlType | null, traits: Partial<Variable> = {}): Variable => {
      const variable = slots.add(name, type, traits);
      outermost.define(name, variable);
      return variable;
    };
    const facts = FACTS.map(({ name, type }) => define(name, type));
    const tableOid = facts.find(({ name }) => name === "tg_relid")!;
    const before = define("old", null, { tableOid });
    const after = define("new", null, { tableOid });
    const found = define("found", BOOL);
    const conversions = new Conversions();
    const compiler: Compiler = {
      env: host.environment(context),
      result: RESULT,
      conversions,
      found,
      statements: (nodes, names) => compileStatements(nodes, names, compiler),
    };
    const run = compileBlock(body.block, outermost, compiler);
    return { epoch, run, slots, rowType: rowTypeOf(firing.relation), before, after, found, facts, conversions };
  }
}

function rowTypeOf({ columns, name }: TriggerRelation): SqlType {
  return recordOf(columns, name);
}
