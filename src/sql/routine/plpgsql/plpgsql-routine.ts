/**
 * LANGUAGE plpgsql: a body compiled to closures for the types of one kind of call; compiled again when definitions
 * change.
 */
import { type FunctionDef, outputsOf } from "../../../catalog/function.js";
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import type { RoutineCall, RoutineRows } from "../../../query/expr/expr.js";
import { displayName } from "../../../query/expr/types.js";
import { BOOL, type SqlType, type Value, VOID } from "../../../values/values.js";
import type { PlBody } from "../../parse/plpgsql-ast.js";
import { parsePlpgsql } from "../../parse/plpgsql-parser.js";
import type { Invocation, PreparedRoutine } from "../prepared-routine.js";
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
  /** Where arguments go, in order. */
  readonly inputs: readonly Variable[];
  readonly result: ResultKind;
  readonly conversions: Conversions;
  readonly found: Variable;
}

export class PlpgsqlRoutine implements PreparedRoutine {
  private readonly definition: FunctionDef;
  private readonly body: PlBody;
  private compiled: Compiled | null = null;

  constructor(private readonly routine: RoutineCall) {
    this.definition = routine.definition;
    this.body = parsePlpgsql(this.definition.body);
  }

  value(args: readonly Value[], invocation: Invocation): Value | Promise<Value> {
    return after(this.run(args, this.routine.returns, invocation), ({ frame, compiled }) => {
      const { form, outputs } = compiled.result;
      if (form === "void") return "";
      if (form === "outputs" || form === "procedure") {
        const values = outputs.map(({ slot }) => frame.values[slot]!);
        return form === "outputs" && outputs.length === 1 ? values[0]! : values;
      }
      return frame.result;
    });
  }

  rows(args: readonly Value[], shape: SqlType, invocation: Invocation): RoutineRows | Promise<RoutineRows> {
    return after(this.run(args, shape, invocation), ({ frame, compiled }) => {
      if (compiled.result.form === "set") return frame.rows;
      return [this.asShape(frame, compiled, shape)];
    });
  }

  /** The record that a function answers with, as the query expects it. Throws 42804. */
  private asShape(frame: Frame, { conversions }: Compiled, shape: SqlType): readonly Value[] {
    const fields = shape.fields!;
    const given = frame.resultType?.fields;
    if (frame.result === null || given === undefined) return fields.map(() => null);
    const message = "returned record type does not match expected record type";
    if (given.length !== fields.length) {
      const detail = `Number of returned columns (${given.length}) does not match expected column count (${fields.length}).`;
      throw sqlError("42804", message, { detail });
    }
    const row = frame.result as readonly Value[];
    return fields.map(({ type }, i) => {
      const from = given[i]!.type;
      if (from.name !== type.name) {
        const detail = `Returned type ${displayName(from)} does not match expected type ${displayName(type)} in column ${i + 1}.`;
        throw sqlError("42804", message, { detail });
      }
      return conversions.convert(row[i]!, from, type, frame);
    });
  }

  private run(
    args: readonly Value[],
    shape: SqlType,
    invocation: Invocation,
  ): { frame: Frame; compiled: Compiled } | Promise<{ frame: Frame; compiled: Compiled }> {
    const epoch = invocation.host.epoch(invocation.context);
    if (this.compiled?.epoch !== epoch) this.compiled = this.compile(epoch, invocation);
    const { compiled } = this;
    const frame = new Frame(compiled.slots.count, invocation, shape);
    compiled.inputs.forEach(({ slot, type }, i) => {
      frame.values[slot] = args[i]!;
      if (type !== null) return;
      const given = this.routine.parameterTypes[i]!;
      frame.types[slot] = given.fields === undefined ? null : given;
    });
    frame.values[compiled.found.slot] = false;
    return after(compiled.run(frame), (signal) => {
      this.checkEnd(signal, compiled.result);
      return { frame, compiled };
    });
  }

  private checkEnd(signal: Signal, { form }: ResultKind): void {
    if (signal === RETURN || form !== "value") return;
    throw sqlError("2F005", "control reached end of function without RETURN");
  }

  private compile(epoch: string, { host, context }: Invocation): Compiled {
    const { definition, routine, body } = this;
    const slots = new Slots();
    const outermost = new Namespace(slots, null, definition.name, body.conflict);
    const inputs: Variable[] = [];
    const outputs: Variable[] = [];
    let input = 0;
    const outputTypes = typesOfOutputs(definition, routine.returns);
    let output = 0;
    for (const { name, mode, type: declared } of definition.parameters) {
      const isInput = mode === "in" || mode === "inout" || mode === "variadic";
      const type = isInput ? routine.parameterTypes[input++]! : outputTypes[output]!;
      // A parameter of type record takes the type of what is given, and of what is assigned to it later.
      const isRecord = declared.type.name === "record" && declared.type.fields === undefined;
      const variable = slots.add(name ?? `$${slots.parameters.length + 1}`, isRecord ? null : type);
      slots.parameters.push(variable);
      if (name !== null) outermost.define(name, variable);
      if (isInput) inputs.push(variable);
      if (mode !== "in" && mode !== "variadic") {
        outputs.push(variable);
        output++;
      }
    }
    const found = slots.add("found", BOOL);
    outermost.define("found", found);
    const result = resultOf(definition, routine.returns, outputs);
    const conversions = new Conversions();
    const compiler: Compiler = {
      env: host.environment(context),
      result,
      conversions,
      found,
      statements: (nodes, names) => compileStatements(nodes, names, compiler),
    };
    const run = compileBlock(body.block, outermost, compiler);
    return { epoch, run, slots, inputs, result, conversions, found };
  }
}

/** Types of OUT, INOUT and TABLE parameters as the call has them. */
function typesOfOutputs(definition: FunctionDef, returns: SqlType): readonly SqlType[] {
  const outputs = outputsOf(definition);
  if (outputs.length === 1 && definition.kind === "function") return [returns];
  return returns.fields?.map(({ type }) => type) ?? [];
}

function resultOf(definition: FunctionDef, returns: SqlType, outputs: readonly Variable[]): ResultKind {
  const isBareRecord = returns.name === "record" && returns.fields === undefined;
  const type = isBareRecord ? null : returns;
  if (definition.kind === "procedure") return { form: "procedure", type, outputs };
  if (definition.returnsSet) return { form: "set", type, outputs };
  if (outputs.length > 0) return { form: "outputs", type, outputs };
  return { form: returns === VOID ? "void" : "value", type, outputs };
}
