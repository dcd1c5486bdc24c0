/**
 * The function call message, by which libpq and JDBC work with large objects: a function by its OID, its arguments and
 * the form of its result. It runs as the statement that calls the function, and its answer is the value alone.
 */
import { sqlError } from "../../protocol/errors.js";
import { fieldsOfNotice } from "../../protocol/notice.js";
import { writeNotice } from "../../protocol/postgres/error-message.js";
import type { MessageFields } from "../../protocol/postgres/message-reader.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import type { Outcome, ResultShape } from "../../session/sql-result.js";
import { functionFacts } from "../../sql/bind/system/builtin-facts.js";
import type { Value } from "../../values/values.js";
import { fromBinary, parameterFromText } from "./binary-values.js";
import { type Formats, formatOf, valueWriters } from "./row-output.js";
import { timeoutOf } from "./timeouts.js";
import type { WireHost } from "./wire-host.js";

interface FunctionCall {
  readonly oid: number;
  readonly formats: Formats;
  /** Null: NULL. */
  readonly args: readonly (Buffer | null)[];
  /** Of the result. */
  readonly format: number;
}

/** Runs the function and writes its answer. */
export async function callFunction(wire: WireHost, fields: MessageFields): Promise<void> {
  const call = readCall(fields);
  const { session, client } = wire;
  const { settings } = session;
  const { sql, oids } = statementOf(call);
  client.begin(timeoutOf(settings, client.request));
  const { parameterTypes: declared } = session.protocol.planAhead({ sql }, oids);
  const params = call.args.map((bytes, i): Value => {
    if (bytes === null) return null;
    const type = declared[i]!;
    return formatOf(call.formats, i) === 1 ? fromBinary(type, bytes) : parameterFromText(type, bytes, settings);
  });
  const result: { shape: ResultShape | null; value: Value } = { shape: null, value: null };
  const collector = (shape: ResultShape) => {
    result.shape = shape;
    return {
      append: (batch: { readonly columns: readonly ArrayLike<Value>[] }) => {
        result.value = batch.columns[0]![0] ?? null;
        return 0;
      },
    };
  };
  const run = { sql, params, declared, maxRows: 1, collector, request: client };
  const outcome = await session.execute(run, (tx) => client.request.commitPart(tx));
  await client.request.linked();
  writeAnswer(wire, outcome, result, call.format);
}

function readCall(fields: MessageFields): FunctionCall {
  const oid = fields.uint32();
  const formats = Array.from({ length: fields.uint16() }, () => fields.int16());
  const args = Array.from({ length: fields.uint16() }, () => {
    const length = fields.int32();
    return length < 0 ? null : Buffer.from(fields.view(length));
  });
  return { oid, formats, args, format: fields.int16() };
}

/** Throws 42883 for a function that PostgreSQL does not have, 08P01 for another number of arguments. */
function statementOf({ oid, args }: FunctionCall): { readonly sql: string; readonly oids: readonly number[] } {
  const facts = functionFacts().get(oid);
  if (facts === undefined || facts.kind !== "f" || facts.set) {
    throw sqlError("42883", `function with OID ${oid} does not exist`, {
      hint: "Functions that statements made are called by SELECT function(…).",
    });
  }
  if (facts.args.length !== args.length) {
    const { length } = facts.args;
    throw sqlError("08P01", `function call message contains ${args.length} arguments but function requires ${length}`);
  }
  const list = args.map((_, i) => `$${i + 1}`).join(", ");
  return { sql: `SELECT pg_catalog.${quoteIdentifier(facts.name)}(${list})`, oids: facts.args };
}

function writeAnswer(
  { writer, session }: WireHost,
  { notices }: Outcome,
  { shape, value }: { readonly shape: ResultShape | null; readonly value: Value },
  format: number,
): void {
  for (const notice of notices) writeNotice(writer, fieldsOfNotice(notice));
  writer.begin(BACK.functionCallResponse);
  if (value === null || shape === null) writer.int32(-1);
  else valueWriters(shape, [format], session.settings)[0]!.value(writer, value);
  writer.end();
}
