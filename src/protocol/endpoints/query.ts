/** SQL: single statements, batches, prepared statements, interactive transactions, and the schema's description. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { BATCH_STATEMENTS_MAX, LIST_PAGE_MAX } from "../limits.js";
import {
  boundSets,
  limits,
  Nullable,
  otherDatabase,
  PageQuery,
  QueryResult,
  Strict,
  sql,
  Timestamp,
  textOptions,
  Unused,
} from "./schemas.js";

const BatchItem = Type.Union([
  sql,
  Strict({
    ...{ sql, ...boundSets, ...textOptions, max_rows: limits.max_rows, ...otherDatabase },
    timeout_secs: Unused("the statements of a batch share one timeout: send timeout_secs beside them."),
  }),
]);

const BatchResult = Type.Object({
  results: Type.Array(
    Type.Union([
      Type.Object({
        type: Type.Literal("success"),
        data: QueryResult,
        rows_affected: Type.Optional(Type.Integer({ description: "As in data." })),
      }),
      Type.Object({
        type: Type.Literal("error"),
        error: Type.Object({ code: Type.String(), message: Type.String() }),
      }),
    ]),
  ),
  total_execution_time_ms: Type.Number(),
});

const TransactionState = Type.Object({
  id: Type.String(),
  status: Type.String(),
  isolation_level: Type.String(),
  read_only: Type.Boolean(),
  created_at: Timestamp,
  expires_at: Timestamp,
  savepoints: Type.Array(Type.String()),
});

const transactionId = Type.Object({ id: Type.String() });
const SavepointName = Type.String({ minLength: 1, maxLength: 63 });

const ColumnInfo = Type.Object({
  name: Type.String(),
  data_type: Type.String(),
  nullable: Type.Boolean(),
  default_value: Nullable(Type.String()),
  is_primary_key: Type.Boolean(),
  is_unique: Type.Boolean(),
  ordinal_position: Type.Integer(),
});

const IndexInfo = Type.Object({
  name: Type.String(),
  type: Type.String(),
  columns: Type.Array(Type.String()),
  is_unique: Type.Boolean(),
  is_primary: Type.Boolean(),
  progress: Type.Optional(
    Type.Object(
      {
        state: Type.Enum(["absent", "opening", "linking", "ready"]),
        rows_read: Type.Integer(),
        items: Type.Integer(),
        items_waiting: Type.Integer(),
        size_bytes: Type.Integer(),
      },
      {
        description:
          "For a search index (hnsw, text), which is in memory. absent: the first search builds it. opening: its file or " +
          "the table's rows are being read. linking: some vectors are not linked yet and are compared one by one. Searches find the same in all states.",
      },
    ),
  ),
});

const tableName = Type.Object({
  table: Type.String({ description: 'A table, or schema.table; with a dot in a name: "schema"."ta.ble".' }),
});

const flag = (description: string) => Type.Optional(Type.Enum(["true", "false"], { description }));

export const queryEndpoints = [
  {
    name: "query.execute",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/query/execute",
    summary: "Run one statement with positional parameters, or with several sets of them.",
    tag: "query",
    access: "member",
    home: "tenant",
    body: Strict({ sql, ...boundSets, ...textOptions, ...limits, ...otherDatabase }),
    streamedReply: ["application/x-ndjson", "application/x-msgpack-stream", "application/vnd.apache.arrow.stream"],
    example: {
      body: {
        sql: "SELECT customer, sum(total) AS total FROM orders WHERE total > $1 GROUP BY 1 ORDER BY 2 DESC",
        parameters: [10],
      },
    },
    response: QueryResult,
  },
  {
    name: "query.batch",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/query/execute/batch",
    summary:
      "Run statements in order; each in its own transaction unless `transactional`, which makes it all or nothing.",
    tag: "query",
    access: "member",
    home: "tenant",
    body: Strict({
      statements: Type.Optional(Type.Array(BatchItem, { minItems: 1, maxItems: BATCH_STATEMENTS_MAX })),
      queries: Type.Optional(Type.Array(BatchItem, { minItems: 1, maxItems: BATCH_STATEMENTS_MAX })),
      transactional: Type.Optional(Type.Boolean()),
      stop_on_error: Type.Optional(
        Type.Boolean({ description: "Stop at the first statement that fails. `results` has the statements that ran." }),
      ),
      ...limits,
      ...otherDatabase,
    }),
    example: {
      body: {
        queries: [
          "CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, customer text, region text, total numeric)",
          {
            sql: "INSERT INTO orders SELECT i, 'c' || i % 7, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END, i * 1.5 FROM generate_series(1, $1) i ON CONFLICT DO NOTHING",
            parameters: [60],
          },
        ],
        transactional: true,
      },
    },
    response: BatchResult,
  },
  {
    name: "query.script",
    door: "statements",
    method: "POST",
    path: "/v1/query/script",
    summary:
      "Run a file of SQL statement by statement, including plain dumps of pg_dump. Each statement has its own transaction unless the script begins one. An error names the statement and its line. The file may be a .gz.",
    tag: "query",
    access: "member",
    home: "tenant",
    slow: true,
    query: Strict({
      transactional: flag("Run all statements in one transaction: all or nothing. Default: false."),
      stop_on_error: flag("Stop at the first statement that fails. Default: true."),
      max_rows: Type.Optional(
        Type.String({ pattern: "^[0-9]{1,4}$", description: "The most rows to return per statement. Default: 100." }),
      ),
    }),
    streamedBody: ["application/sql", "text/plain"],
    example: {
      query: { transactional: "true" },
      body: "CREATE TABLE ports (name text PRIMARY KEY, berths integer);\nINSERT INTO ports VALUES ('Bergen', 12), ('Hull', 7);\n",
    },
    response: Type.Object({
      statements: Type.Integer(),
      failed: Type.Integer(),
      rows_affected: Type.Integer(),
      results: Type.Array(Type.Unknown(), {
        description:
          "For the first 1,000 statements: {statement, line} and command, or rows_affected, columns and rows.",
      }),
      errors: Type.Array(Type.Unknown(), {
        description:
          "With stop_on_error=false, for the first 100 failed statements: {code, message, details: {statement, line, …}}.",
      }),
      execution_time_ms: Type.Number(),
    }),
  },
  {
    name: "query.prepare",
    door: "statements",
    method: "POST",
    path: "/v1/query/prepare",
    summary: "Parse and plan a statement once; run it by id.",
    tag: "query",
    access: "member",
    home: "tenant",
    keeps: "memory",
    body: Strict({
      sql,
      ...textOptions,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
      parameter_types: Unused("parameter types follow from the statement. Write $1::integer to set one."),
    }),
    example: { body: { name: "orders_above", sql: "SELECT id, total FROM orders WHERE total > $1 ORDER BY id" } },
    response: Type.Object({
      statement_id: Type.String(),
      param_count: Type.Integer(),
      parameter_count: Type.Integer({ description: "The same." }),
      sql: Type.String(),
    }),
    status: 201,
  },
  {
    name: "query.exec",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/query/exec",
    summary: "Run a prepared statement.",
    tag: "query",
    access: "member",
    home: "tenant",
    body: Strict({ statement_id: Type.String({ minLength: 1 }), ...boundSets, ...limits }),
    example: { body: { statement_id: "orders_above", parameters: [80], max_rows: 10 } },
    response: QueryResult,
  },
  {
    name: "query.close",
    door: "statements",
    ends: true,
    method: "POST",
    path: "/v1/query/close",
    summary: "Close a prepared statement.",
    tag: "query",
    access: "member",
    home: "tenant",
    body: Strict({ statement_id: Type.String({ minLength: 1 }) }),
    example: { body: { statement_id: "orders_above" } },
    response: Type.Object({ closed: Type.Boolean() }),
  },
  {
    name: "transactions.begin",
    door: "statements",
    method: "POST",
    path: "/v1/transactions",
    summary: "Begin an interactive transaction. It is rolled back at its deadline.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    keeps: "memory",
    body: Strict({
      isolation_level: Type.Optional(
        Type.String({
          maxLength: 32,
          description: "serializable (the default), repeatable_read, read_committed or read_uncommitted.",
        }),
      ),
      read_only: Type.Optional(Type.Boolean()),
      timeout_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
    }),
    bodyOptional: true,
    example: { body: { isolation_level: "serializable", timeout_secs: 60 } },
    response: TransactionState,
    status: 201,
  },
  {
    name: "transactions.get",
    door: "statements",
    method: "GET",
    path: "/v1/transactions/{id}",
    summary: "The state of an open transaction.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    params: transactionId,
    response: TransactionState,
  },
  {
    name: "transactions.execute",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/transactions/{id}/execute",
    summary: "Run one statement inside the transaction.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    keeps: "memory",
    params: transactionId,
    body: Strict({ sql, ...boundSets, ...textOptions, ...limits }),
    example: {
      params: { id: "tx_0123456789abcdef" },
      body: { sql: "UPDATE orders SET total = total + 1 WHERE id = $1", parameters: [7] },
    },
    response: QueryResult,
  },
  {
    name: "transactions.commit",
    door: "statements",
    method: "POST",
    path: "/v1/transactions/{id}/commit",
    summary: "Commit; 409 serialization_failure when a concurrent change conflicts.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    params: transactionId,
    body: Strict({}),
    bodyOptional: true,
    example: { params: { id: "tx_0123456789abcdef" } },
    response: Type.Object({ id: Type.String(), status: Type.Literal("committed") }),
  },
  {
    name: "transactions.rollback",
    door: "statements",
    ends: true,
    method: "POST",
    path: "/v1/transactions/{id}/rollback",
    summary: "Discard the transaction's changes.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    keeps: "memory",
    params: transactionId,
    body: Strict({}),
    bodyOptional: true,
    example: { params: { id: "tx_0123456789abcdef" } },
    response: Type.Object({ id: Type.String(), status: Type.Literal("rolled_back") }),
  },
  {
    name: "transactions.savepoint",
    door: "statements",
    method: "POST",
    path: "/v1/transactions/{id}/savepoint",
    summary: "Set a savepoint.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    keeps: "memory",
    params: transactionId,
    body: Strict({ name: SavepointName }),
    example: { params: { id: "tx_0123456789abcdef" }, body: { name: "before_discount" } },
    response: Type.Object({ id: Type.String(), savepoint: Type.String() }),
    status: 201,
  },
  {
    name: "transactions.savepoint.rollback",
    door: "statements",
    method: "POST",
    path: "/v1/transactions/{id}/savepoint/{name}/rollback",
    summary: "Roll back to a savepoint. The savepoint remains.",
    tag: "transactions",
    access: "member",
    home: "tenant",
    keeps: "memory",
    params: Type.Object({ id: Type.String(), name: SavepointName }),
    body: Strict({}),
    bodyOptional: true,
    example: { params: { id: "tx_0123456789abcdef", name: "before_discount" } },
    response: Type.Object({ id: Type.String(), savepoint: Type.String() }),
  },
  {
    name: "schema.tables",
    door: "statements",
    method: "GET",
    path: "/v1/schema/tables",
    summary: "The tenant's tables.",
    tag: "schema",
    access: "member",
    home: "tenant",
    pages: { items: null, usual: LIST_PAGE_MAX },
    query: Strict({
      include_system: Type.Optional(
        Type.Enum(["true", "false"], {
          description:
            "With true, also tables whose names begin with an underscore, and the tables of graphs. Those that features keep for themselves are listed to administrators alone.",
        }),
      ),
      ...PageQuery,
      ...otherDatabase,
    }),
    response: Type.Array(
      Type.Object({
        name: Type.String(),
        schema: Type.String(),
        type: Type.String(),
        column_count: Type.Integer(),
        row_count: Type.Optional(
          Type.Integer({ description: "Left out, as size_bytes is, where the caller may not read all of the table." }),
        ),
        size_bytes: Type.Optional(Type.Integer()),
        created_at: Timestamp,
      }),
    ),
  },
  {
    name: "schema.table",
    door: "statements",
    method: "GET",
    path: "/v1/schema/tables/{table}",
    summary: "One table: columns, indexes, constraints.",
    tag: "schema",
    access: "member",
    home: "tenant",
    params: tableName,
    response: Type.Object({
      name: Type.String(),
      columns: Type.Array(ColumnInfo),
      indexes: Type.Array(IndexInfo),
      constraints: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), definition: Type.String() })),
    }),
  },
  {
    name: "schema.columns",
    door: "statements",
    method: "GET",
    path: "/v1/schema/tables/{table}/columns",
    summary: "One table's columns.",
    tag: "schema",
    access: "member",
    home: "tenant",
    params: tableName,
    response: Type.Array(ColumnInfo),
  },
  {
    name: "schema.indexes",
    door: "statements",
    method: "GET",
    path: "/v1/schema/tables/{table}/indexes",
    summary: "One table's indexes.",
    tag: "schema",
    access: "member",
    home: "tenant",
    params: tableName,
    response: Type.Array(IndexInfo),
  },
] as const satisfies readonly EndpointSpec[];
