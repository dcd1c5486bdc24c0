/** The send functions of types (int8send, uuid_send, …): values in PostgreSQL's binary format, as bytea. */
import { MessageWriter } from "../../protocol/postgres/message-writer.js";
import type { ScalarFunction } from "../../query/expr/expr.js";
import { fn } from "../../query/expr/functions/define.js";
import {
  BIT,
  BOOL,
  BPCHAR,
  BYTEA,
  CITEXT,
  DATE,
  FLOAT4,
  FLOAT8,
  HSTORE,
  INET,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  JSON_TYPE,
  JSONB,
  LQUERY,
  LTREE,
  LTXTQUERY,
  MACADDR,
  NAME,
  NUMERIC,
  OID,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  UUID,
  VARBIT,
  VARCHAR,
  type Value,
} from "../../values/values.js";
import { binaryWriter } from "./binary-values.js";

/** PostgreSQL's names, which follow no rule. */
const NAMES: readonly (readonly [name: string, type: SqlType])[] = [
  ["boolsend", BOOL],
  ["int2send", INT2],
  ["int4send", INT4],
  ["int8send", INT8],
  ["float4send", FLOAT4],
  ["float8send", FLOAT8],
  ["numeric_send", NUMERIC],
  ["oidsend", OID],
  ["textsend", TEXT],
  ["varcharsend", VARCHAR],
  ["bpcharsend", BPCHAR],
  ["namesend", NAME],
  ["byteasend", BYTEA],
  ["bit_send", BIT],
  ["varbit_send", VARBIT],
  ["uuid_send", UUID],
  ["date_send", DATE],
  ["time_send", TIME],
  ["timetz_send", TIMETZ],
  ["timestamp_send", TIMESTAMP],
  ["timestamptz_send", TIMESTAMPTZ],
  ["interval_send", INTERVAL],
  ["json_send", JSON_TYPE],
  ["jsonb_send", JSONB],
  ["inet_send", INET],
  ["macaddr_send", MACADDR],
  ["citextsend", CITEXT],
  ["hstore_send", HSTORE],
  ["ltree_send", LTREE],
  ["lquery_send", LQUERY],
  ["ltxtq_send", LTXTQUERY],
];

/** The length before the value in a message. */
const LENGTH_BYTES = 4;

export const SEND_FUNCTIONS: readonly ScalarFunction[] = NAMES.map(([name, type]) => {
  const write = binaryWriter(type);
  const writer = new MessageWriter();
  return fn(name, [type], BYTEA, (value: Value) => {
    write(writer, value);
    return writer.take().subarray(LENGTH_BYTES);
  });
});
