/** Schemas that several areas of endpoints share. */
import Type from "typebox";

export const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An object that refuses unknown fields, so that a misspelt one is reported instead of dropped. */
export const Strict = <P extends Type.TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** The keyword of a field that public clients send and that means nothing here; its value says why. */
export const UNUSED = "x-unused";

/** A field that is taken with any value, left aside, and noted in `meta.warnings`. `why`: a sentence. */
export const Unused = (why: string) => Type.Optional(Type.Unknown({ description: `Not used: ${why}`, [UNUSED]: why }));

/** What clients of servers with several databases send along. */
export const otherDatabase = {
  database: Unused("a request always works on the data of its own tenant."),
};

export const Timestamp = Type.String({ description: "RFC 3339, UTC." });

const PARAMETERS =
  "For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text.";

export const Parameters = Type.Union([Type.Array(Type.Unknown()), Type.Record(Type.String(), Type.Unknown())], {
  description: PARAMETERS,
});

/** The graph that Cypher is about. */
export const GraphName = Type.String({
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$",
  description: 'A graph of the tenant. Default: "default".',
});

/** What a statement's text alone need not tell. */
export const textOptions = {
  language: Type.Optional(
    Type.Enum(["sql", "cypher"], { description: "Default: the language whose parser accepts the text, SQL first." }),
  ),
  graph: Type.Optional(GraphName),
};

export const sql = Type.String({ minLength: 1 });

/** Both spellings of the parameters are in use; sending both is an error. */
export const bound = {
  parameters: Type.Optional(Parameters),
  params: Type.Optional(Parameters),
};

/** The same in a query string. */
export const boundText = {
  parameters: Type.Optional(Type.String({ description: `As JSON. ${PARAMETERS}` })),
};

const SETS =
  'A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values.';
const ParametersOrSets = { ...Parameters, description: `${PARAMETERS} ${SETS}` };

/** As `bound`, of endpoints that run a statement for several sets of parameters, too. */
export const boundSets = {
  parameters: Type.Optional(ParametersOrSets),
  params: Type.Optional(ParametersOrSets),
};

/** Of one request. */
export const limits = {
  max_rows: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000_000, description: "The most rows of this request." }),
  ),
  timeout_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
};

export const ColumnMeta = Type.Object({
  name: Type.String(),
  data_type: Type.String(),
  nullable: Type.Boolean(),
});

export const GraphStats = Type.Object(
  {
    nodes_created: Type.Integer(),
    nodes_deleted: Type.Integer(),
    relationships_created: Type.Integer(),
    relationships_deleted: Type.Integer(),
    properties_set: Type.Integer(),
    labels_added: Type.Integer(),
    labels_removed: Type.Integer(),
  },
  { description: "What a Cypher statement changed. Absent if it changed nothing." },
);

export const QueryResult = Type.Object({
  columns: Type.Array(ColumnMeta),
  rows: Type.Array(Type.Array(Type.Unknown()), { description: "Values in the order of the columns." }),
  rows_affected: Type.Optional(Type.Integer()),
  execution_time_ms: Type.Number(),
  stats: Type.Optional(GraphStats),
  notices: Type.Optional(Type.Array(Type.String())),
  truncated: Type.Optional(Type.Boolean({ description: "True: the result was cut at the row limit." })),
});

/** Both ways of paging are in use. */
/** Of a request that reads: the moment of the tenant's past. */
export const AsOfQuery = {
  as_of: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Read what was there then: a time, or the number of a commit, within what GET /v1/history shows.",
    }),
  ),
};

export const AsOf = Type.Optional(
  Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 0 })], {
    description: "Read what was there then: a time, or the number of a commit, within what GET /v1/history shows.",
  }),
);

export const PageQuery = {
  limit: Type.Optional(Type.String({ pattern: "^[0-9]{1,6}$" })),
  offset: Type.Optional(Type.String({ pattern: "^[0-9]{1,9}$" })),
  page: Type.Optional(
    Type.String({ pattern: "^[0-9]{1,7}$", description: "Page number from 1, instead of `offset`." }),
  ),
  pageSize: Type.Optional(Type.String({ pattern: "^[0-9]{1,6}$", description: "Another name for `limit`." })),
  page_size: Type.Optional(Type.String({ pattern: "^[0-9]{1,6}$", description: "Another name for `limit`." })),
};

/** Of a collection, which is also a table's: letters, digits and _ . - only, so that it needs no care in a path. */
export const CollectionName = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$" });

/** Of a message on the WebSocket: how a client names a request, to know its answers again and to cancel it. */
export const MessageId = Type.Union([Type.String({ maxLength: 128 }), Type.Integer()]);

/** What is subscribed to: one of these. */
export const followed = {
  collection: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, description: "A collection of documents or vectors." }),
  ),
  table: Type.Optional(Type.String({ minLength: 1, maxLength: 130, description: 'A table: "name" or "schema.name".' })),
  label: Type.Optional(Type.String({ minLength: 1, description: "Nodes of a graph with this label." })),
  relationship: Type.Optional(Type.String({ minLength: 1, description: "Relationships of a graph of this type." })),
  graph: Type.Optional(GraphName),
};

/** With fields of any names. */
export const AnyObject = Type.Object({}, { additionalProperties: true });
