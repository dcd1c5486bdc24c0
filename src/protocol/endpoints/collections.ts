/** Document collections: their schemas, their documents, search. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { SEARCH_LIMIT_MAX } from "../limits.js";
import { AnyObject, AsOf, AsOfQuery, Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const collectionFields = {
  name: Type.String(),
  schema: Type.Object({ fields: Type.Array(AnyObject), indexes: Type.Array(AnyObject) }),
  document_count: Type.Optional(Type.Integer()),
  created_at: Timestamp,
  indexes: Type.Optional(Type.Array(AnyObject, { description: "Search indexes and how far each is." })),
};
const Collection = Type.Object(collectionFields);
const WrappedCollection = Type.Object({
  ...collectionFields,
  collection: Type.Object(collectionFields, { description: "The same fields again." }),
});

const collectionName = Type.Object({ name: Type.String() });
const documentId = Type.Object({ name: Type.String(), id: Type.String() });

const Schema = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      "`{fields: [{name, type, required?, unique?, index?, embed?, dimensions?, items?, fields?}], indexes: [{name?, fields, type?, unique?, …}]}`, or a flat map `{field: type}`. `embed`: true, or the name of a model. Types: string, number, integer, boolean, date, object, array, vector. Index types: btree, hash, text, vector.",
  },
);

const Names = Type.Array(Type.String(), { maxItems: 500 });

const SchemaChange = Strict({
  schema: Type.Optional(Schema),
  drop_fields: Type.Optional(Names),
  drop_indexes: Type.Optional(Names),
});

const Document = Type.Object(
  {},
  { additionalProperties: true, description: "A free-form JSON object. Fields of the schema have its types." },
);

const Filter = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      '`{field: value}`, `{"a.b": {$gt: 1}}`; operators $eq $ne $gt $gte $lt $lte $in $nin $exists $not $contains $all $size $elemMatch $regex $like $ilike, and $and $or $nor $not around filters.',
  },
);

const tag = "collections";

export const collectionEndpoints = [
  {
    name: "collections.create",
    door: "statements",
    method: "POST",
    path: "/v1/collections",
    summary: "Create a document collection.",
    tag,
    access: "writer",
    home: "tenant",
    body: Strict({ name: Type.String({ minLength: 1, maxLength: 63 }), schema: Type.Optional(Schema) }),
    example: {
      body: {
        name: "article",
        schema: {
          fields: [
            { name: "title", type: "string", required: true },
            { name: "year", type: "integer" },
          ],
          indexes: [{ name: "by_title", fields: ["title"], type: "text" }],
        },
      },
    },
    response: WrappedCollection,
    status: 201,
  },
  {
    name: "collections.list",
    door: "statements",
    method: "GET",
    path: "/v1/collections",
    summary: "The tenant's document collections.",
    tag,
    access: "member",
    home: "tenant",
    pages: { items: "items", total: "total" },
    query: Strict(PageQuery),
    response: Type.Object({
      items: Type.Array(Collection),
      total: Type.Integer(),
      page: Type.Integer(),
      page_size: Type.Integer(),
    }),
  },
  {
    name: "collections.get",
    door: "statements",
    method: "GET",
    path: "/v1/collections/{name}",
    summary: "One collection with its schema and its number of documents.",
    tag,
    access: "member",
    home: "tenant",
    params: collectionName,
    response: WrappedCollection,
  },
  {
    name: "collections.replace",
    door: "statements",
    method: "PUT",
    path: "/v1/collections/{name}",
    summary: "Replace a collection's schema: like PATCH, and fields that the new schema does not name are dropped.",
    tag,
    access: "writer",
    home: "tenant",
    slow: true,
    params: collectionName,
    body: SchemaChange,
    example: {
      params: { name: "article" },
      body: {
        schema: {
          fields: [
            { name: "title", type: "string" },
            { name: "year", type: "integer" },
            { name: "author", type: "string" },
          ],
          indexes: [{ name: "by_title", fields: ["title"], type: "text" }],
        },
      },
    },
    response: WrappedCollection,
  },
  {
    name: "collections.update",
    door: "statements",
    method: "PATCH",
    path: "/v1/collections/{name}",
    summary:
      "Add, change or drop fields and indexes of a collection. Stored documents are checked and keep all their content.",
    tag,
    access: "writer",
    home: "tenant",
    slow: true,
    params: collectionName,
    body: SchemaChange,
    example: { params: { name: "article" }, body: { schema: { fields: [{ name: "author", type: "string" }] } } },
    response: WrappedCollection,
  },
  {
    name: "collections.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/collections/{name}",
    summary: "Drop a collection with all its documents.",
    tag,
    access: "writer",
    home: "tenant",
    params: collectionName,
    status: 204,
  },
  {
    name: "documents.insert",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/collections/{name}/documents",
    summary: "Insert one document. Its id is generated unless it has one in `id` or `_id`.",
    tag,
    access: "writer",
    home: "tenant",
    params: collectionName,
    body: Document,
    example: { params: { name: "article" }, body: { id: "a1", title: "Sailing in the harbour", year: 2024 } },
    response: Type.Object({ id: Type.String() }),
    status: 201,
  },
  {
    name: "documents.bulk",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/collections/{name}/documents/bulk",
    listIs: "documents",
    summary:
      "Insert documents, as {documents: […]} or as a list: all or none. With `ordered` false, each document has its own result.",
    tag,
    access: "writer",
    home: "tenant",
    params: collectionName,
    body: Strict({
      documents: Type.Array(Document, { maxItems: 100_000 }),
      ordered: Type.Optional(Type.Boolean()),
    }),
    example: {
      params: { name: "article" },
      body: {
        documents: [
          { id: "a2", title: "Walking uphill", year: 2025 },
          { id: "a3", title: "Boats and harbours", author: "Ann" },
        ],
      },
    },
    response: Type.Object({
      ids: Type.Array(Type.Union([Type.String(), Type.Null()])),
      inserted: Type.Integer(),
      failed: Type.Optional(Type.Integer()),
      results: Type.Optional(Type.Array(AnyObject)),
    }),
    status: 201,
  },
  {
    name: "documents.list",
    door: "statements",
    method: "GET",
    path: "/v1/collections/{name}/documents",
    summary: "Documents in the order of their ids. Generated ids are in the order of creation.",
    tag,
    access: "member",
    home: "tenant",
    params: collectionName,
    pages: { items: "items", total: "total", after: { parameter: "cursor", member: "next_cursor" } },
    asOf: "query",
    query: Strict({
      ...PageQuery,
      ...AsOfQuery,
      cursor: Type.Optional(Type.String({ description: "`next_cursor` of the previous page." })),
    }),
    response: Type.Object({
      items: Type.Array(Document),
      documents: Type.Array(Document),
      total: Type.Integer(),
      page: Type.Integer(),
      page_size: Type.Integer(),
      next_cursor: Type.Union([Type.String(), Type.Null()]),
    }),
  },
  {
    name: "documents.get",
    door: "statements",
    method: "GET",
    path: "/v1/collections/{name}/documents/{id}",
    summary: "One document.",
    tag,
    access: "member",
    home: "tenant",
    params: documentId,
    asOf: "query",
    query: Strict(AsOfQuery),
    response: Document,
  },
  {
    name: "documents.replace",
    door: "statements",
    keepsIntegers: true,
    method: "PUT",
    path: "/v1/collections/{name}/documents/{id}",
    summary: "Replace a document with `data`. With `merge`, `data` is a merge patch (RFC 7386).",
    tag,
    access: "writer",
    home: "tenant",
    params: documentId,
    body: Type.Object(
      { data: Type.Optional(Document), merge: Type.Optional(Type.Boolean()) },
      {
        description:
          "`{data, merge?}`, or the document itself. If the schema has a field `data` or `merge`, only the document itself.",
      },
    ),
    example: {
      params: { name: "article", id: "a1" },
      body: { data: { title: "Sailing in the old harbour", year: 2026 }, merge: false },
    },
    response: Document,
  },
  {
    name: "documents.patch",
    door: "statements",
    keepsIntegers: true,
    method: "PATCH",
    path: "/v1/collections/{name}/documents/{id}",
    summary:
      "Change a document by a merge patch (RFC 7386): null removes a member. A body of exactly `{data, merge}` works as in PUT, unless the schema has a field with such a name.",
    tag,
    access: "writer",
    home: "tenant",
    params: documentId,
    body: Document,
    example: { params: { name: "article", id: "a1" }, body: { year: 2027 } },
    response: Document,
  },
  {
    name: "documents.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/collections/{name}/documents/{id}",
    summary: "Delete a document.",
    tag,
    access: "writer",
    home: "tenant",
    params: documentId,
    status: 204,
  },
  {
    name: "documents.search",
    door: "statements",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/collections/{name}/search",
    summary: "Search documents by words, by similarity, by both, or by a filter alone.",
    tag,
    access: "member",
    home: "tenant",
    params: collectionName,
    asOf: "body",
    body: Strict({
      as_of: AsOf,
      query: Type.Optional(
        Type.Union([Type.String({ maxLength: 10_000 }), AnyObject], {
          description: 'Words, or a filter as an object. Words may be `+needed -unwanted "a phrase" prefix*`.',
        }),
      ),
      filters: Type.Optional(Filter),
      filter: Type.Optional(Filter),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: SEARCH_LIMIT_MAX })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: SEARCH_LIMIT_MAX })),
      mode: Type.Optional(
        Type.Enum(["text", "vector", "hybrid"], { description: "Default: hybrid where the collection allows it." }),
      ),
      vector: Type.Optional(Type.Array(Type.Number())),
      vector_field: Type.Optional(Type.String({ description: "The vector field, if there are several." })),
      min_score: Type.Optional(Type.Number()),
      cursor: Type.Optional(Type.String({ description: "`next_cursor` of the previous page of the same search." })),
      highlight: Type.Optional(Type.Boolean({ description: "With false, no highlighted passages." })),
      fields: Type.Optional(Type.Array(Type.String(), { description: "Return only these members of documents." })),
      track_total: Type.Optional(Type.Boolean({ description: "With false, `total` counts only up to the page." })),
    }),
    example: { params: { name: "article" }, body: { query: "harbour", filters: { year: { $gte: 2020 } }, limit: 10 } },
    response: Type.Object({
      documents: Type.Array(Type.Object({ id: Type.String(), score: Type.Optional(Type.Number()) })),
      total: Type.Integer(),
      total_relation: Type.Enum(["eq", "gte"], { description: "gte: there are at least this many." }),
      mode: Type.String(),
      took_ms: Type.Number(),
      next_offset: Nullable(Type.Integer()),
      next_cursor: Nullable(Type.String()),
    }),
  },
] as const satisfies readonly EndpointSpec[];
