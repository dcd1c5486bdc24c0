/** Vector collections: their definitions, their vectors, and search. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { LIST_PAGE_MAX, MAP_NUMBERS_MAX, MAP_POINTS_MAX, SEARCH_LIMIT_MAX, VECTOR_DIMENSIONS_MAX } from "../limits.js";
import { AsOf, AsOfQuery, bound, CollectionName, Nullable, PageQuery, Strict, sql, Timestamp } from "./schemas.js";

// Numbers are checked where they are copied into a vector: once, and with a message that names the place.
const VectorIn = Type.Unknown({
  description: "An array of finite numbers. Its length is the collection's dimensions.",
});
const VectorOut = Type.Array(Type.Number());
const Metadata = Nullable(Type.Record(Type.String(), Type.Unknown()));

const Metric = Type.String({
  description: "cosine (the default), l2 or euclidean, dot or dot_product, l1 or manhattan.",
  maxLength: 40,
});

const Collection = Type.Object({
  name: Type.String(),
  dimensions: Type.Integer(),
  vector_count: Type.Integer(),
  metric: Type.String(),
  distance_metric: Type.String(),
  index_type: Type.Literal("hnsw"),
  index: Type.Object({
    state: Type.String({
      description:
        "ready, building, absent (the first search builds it), or none (a statement dropped it). Until it is ready, searches find the same but take longer.",
    }),
    progress: Type.Number({ description: "0 to 1." }),
  }),
  m: Type.Integer(),
  ef_construction: Type.Integer(),
  ef: Type.Integer({
    description:
      "Default number of candidates that a search keeps. Without a value of its own, the index keeps more than 64 where it has found that it must.",
  }),
  quantization: Type.String(),
  created_at: Timestamp,
});

const VectorItem = Type.Object(
  {
    id: Type.String(),
    vector: Type.Optional(VectorIn),
    values: Type.Optional(Type.Unknown({ description: "Another name for `vector`." })),
    metadata: Type.Optional(Metadata),
  },
  { description: "One vector. `on_conflict` decides about an existing id." },
);

const Vectors = Type.Array(Type.Unknown(), { minItems: 1, description: "Items {id, vector or values, metadata?}." });

const OnConflict = Type.Optional(
  Type.Enum(["error", "replace", "ignore"], {
    description:
      "What to do with a vector whose id already exists: error (the default) rejects the request with 409, replace overwrites the stored one, ignore keeps it.",
  }),
);

const Written = Type.Object({
  id: Type.Optional(Type.String({ description: "Only if one vector was sent." })),
  ids: Type.Array(Type.String()),
  inserted: Type.Integer({ description: "Number of new and replaced vectors." }),
});

const count = Type.Integer({ minimum: 1, maximum: SEARCH_LIMIT_MAX });

const collectionName = Type.Object({ name: CollectionName });
const vectorId = Type.Object({ name: CollectionName, id: Type.String() });

const shared = { tag: "vectors", home: "tenant", door: "statements" } as const;

export const vectorEndpoints = [
  {
    name: "vectors.collections.create",
    method: "POST",
    path: "/v1/vectors/collections",
    summary: "Create a vector collection. It is also a table (id, vector, metadata).",
    access: "writer",
    ...shared,
    body: Strict({
      name: CollectionName,
      dimensions: Type.Integer({ minimum: 1, maximum: VECTOR_DIMENSIONS_MAX }),
      metric: Type.Optional(Metric),
      distance_metric: Type.Optional(Metric),
      m: Type.Optional(Type.Integer({ minimum: 2, maximum: 100, description: "Links per vector. Default: 16." })),
      ef_construction: Type.Optional(
        Type.Integer({
          minimum: 4,
          maximum: 1000,
          description: "Candidates kept while a vector is linked. Default: 100, and at least 2 × m.",
        }),
      ),
      ef: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description:
            "Number of candidates that a search keeps. Left out: the index finds out how many it needs, at least 64.",
        }),
      ),
      ef_search: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "Another name for `ef`." })),
      quantization: Type.Optional(
        Type.String({
          description:
            "How the index stores vectors: none (the default), int8 or binary. Results are always ranked by exact distances.",
        }),
      ),
      index_type: Type.Optional(Type.String({ description: "hnsw, the only one." })),
    }),
    example: { body: { name: "item", dimensions: 3, metric: "cosine" } },
    response: Collection,
    status: 201,
  },
  {
    name: "vectors.collections.list",
    method: "GET",
    path: "/v1/vectors/collections",
    summary: "The tenant's vector collections.",
    access: "member",
    ...shared,
    pages: { items: null, usual: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Array(Collection),
  },
  {
    name: "vectors.collections.get",
    method: "GET",
    path: "/v1/vectors/collections/{name}",
    summary: "One vector collection.",
    access: "member",
    ...shared,
    params: collectionName,
    response: Collection,
  },
  {
    name: "vectors.collections.delete",
    method: "DELETE",
    path: "/v1/vectors/collections/{name}",
    summary: "Drop a vector collection and all its vectors.",
    access: "writer",
    ...shared,
    params: collectionName,
    status: 204,
  },
  {
    name: "vectors.collections.count",
    method: "GET",
    path: "/v1/vectors/collections/{name}/count",
    summary: "How many vectors the collection has.",
    access: "member",
    ...shared,
    params: collectionName,
    response: Type.Object({ count: Type.Integer() }),
  },
  {
    name: "vectors.upsert",
    method: "POST",
    path: "/v1/vectors/collections/{name}/vectors",
    summary: "Store one vector {id, vector, metadata}, or several as {vectors: […]} or a list, all or none of them.",
    access: "writer",
    ...shared,
    params: collectionName,
    hasVectors: true,
    listIs: "vectors",
    query: Strict({ on_conflict: OnConflict }),
    body: Strict({ ...Type.Partial(VectorItem).properties, vectors: Type.Optional(Vectors), on_conflict: OnConflict }),
    example: { params: { name: "item" }, body: { id: "red", vector: [1, 0, 0], metadata: { colour: "red" } } },
    response: Written,
    status: 201,
  },
  {
    name: "vectors.batch",
    method: "POST",
    path: "/v1/vectors/collections/{name}/vectors/batch",
    summary: "Store many vectors, {vectors: […]} or a list, all or none of them.",
    access: "writer",
    ...shared,
    params: collectionName,
    hasVectors: true,
    listIs: "vectors",
    query: Strict({ on_conflict: OnConflict }),
    body: Strict({ vectors: Vectors, on_conflict: OnConflict }),
    example: {
      params: { name: "item" },
      body: {
        vectors: [
          { id: "green", vector: [0, 1, 0], metadata: { colour: "green" } },
          { id: "blue", vector: [0, 0, 1] },
        ],
        on_conflict: "replace",
      },
    },
    response: Written,
    status: 201,
  },
  {
    name: "vectors.deleteMany",
    method: "DELETE",
    path: "/v1/vectors/collections/{name}/vectors",
    summary: "Remove the vectors with these ids. Unknown ids are ignored.",
    access: "writer",
    ...shared,
    params: collectionName,
    body: Strict({ ids: Type.Array(Type.String(), { minItems: 1 }) }),
    example: { params: { name: "item" }, body: { ids: ["blue"] } },
    response: Type.Object({ deleted: Type.Integer() }),
  },
  {
    name: "vectors.get",
    method: "GET",
    path: "/v1/vectors/collections/{name}/vectors/{id}",
    summary: "One vector with its metadata.",
    access: "member",
    ...shared,
    params: vectorId,
    asOf: "query",
    query: Strict(AsOfQuery),
    response: Type.Object({ id: Type.String(), vector: VectorOut, metadata: Metadata }),
  },
  {
    name: "vectors.delete",
    method: "DELETE",
    path: "/v1/vectors/collections/{name}/vectors/{id}",
    summary: "Remove one vector.",
    access: "writer",
    ...shared,
    params: vectorId,
    status: 204,
  },
  {
    name: "vectors.search",
    method: "POST",
    path: "/v1/vectors/collections/{name}/search",
    summary:
      "Search the vectors nearest to a vector or a text, optionally with a filter. distance is the metric's (cosine: 1 − cosine, l2: Euclidean, dot: −inner product, l1: sum of differences) and score grows with similarity (cosine: 1 − distance, l2 and l1: 1 / (1 + distance), dot: −distance).",
    access: "member",
    ...shared,
    params: collectionName,
    hasVectors: true,
    asOf: "body",
    body: Strict({
      as_of: AsOf,
      vector: Type.Optional(VectorIn),
      query: Type.Optional(Type.String({ minLength: 1, description: "A text, which is embedded first." })),
      text_query: Type.Optional(Type.String({ minLength: 1, description: "Another name for `query`." })),
      mode: Type.Optional(
        Type.Enum(["vector", "semantic", "text", "hybrid"], {
          description:
            "Every mode ranks by similarity, because vectors have no words; text and hybrid add a warning. Document collections can also be searched by words.",
        }),
      ),
      limit: Type.Optional(count),
      k: Type.Optional(count),
      top_k: Type.Optional(count),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: SEARCH_LIMIT_MAX })),
      filter: Type.Optional(
        Nullable(
          Type.Record(Type.String(), Type.Unknown(), {
            description: "A filter over the metadata, as in a document search.",
          }),
        ),
      ),
      filter_mode: Type.Optional(
        Type.String({
          description:
            "auto (the default) chooses by the number of matches. pre compares all matches, so it misses none. post filters what the index finds, while at least one in a hundred matches. Each returns as many as match, up to the limit.",
        }),
      ),
      include_metadata: Type.Optional(Type.Boolean({ description: "True unless said." })),
      include_vectors: Type.Optional(Type.Boolean()),
      ef: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: SEARCH_LIMIT_MAX,
          description: "Candidates that the search keeps. Left out: as the collection says.",
        }),
      ),
      min_score: Type.Optional(Type.Number()),
      threshold: Type.Optional(Type.Number({ description: "Another name for `min_score`." })),
      max_distance: Type.Optional(
        Type.Number({
          description: `Returns all within this distance, up to ${SEARCH_LIMIT_MAX} unless a limit is sent.`,
        }),
      ),
    }),
    example: { params: { name: "item" }, body: { vector: [0.9, 0.1, 0], limit: 2, filter: { colour: "red" } } },
    response: Type.Array(
      Type.Object({
        id: Type.String(),
        score: Nullable(Type.Number()),
        distance: Nullable(Type.Number()),
        metadata: Type.Optional(Metadata),
        vector: Type.Optional(VectorOut),
      }),
    ),
  },
  {
    name: "vectors.map",
    method: "POST",
    path: "/v1/vectors/map",
    summary:
      "Places on a plane for the vectors that a query returns, so that vectors that are alike stand together. The answer has the query's other columns beside them.",
    access: "member",
    ...shared,
    slow: true,
    body: Strict({
      sql,
      ...bound,
      column: Type.Optional(
        Type.String({ description: "The column of vectors. Default: the first that has the type vector." }),
      ),
      metric: Type.Optional(Metric),
      method: Type.Optional(
        Type.Enum(["neighbours", "principal"], {
          description:
            "neighbours (the default) keeps neighbours together, by UMAP over a sample of the vectors. principal shows the two directions in which the vectors differ most.",
        }),
      ),
      max_points: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAP_POINTS_MAX,
          description: `Rows that the map takes at most. Default: ${MAP_POINTS_MAX}, or fewer if the vectors have together more than ${MAP_NUMBERS_MAX} numbers.`,
        }),
      ),
    }),
    example: { body: { sql: "SELECT id, metadata, vector FROM item", max_points: 1000 } },
    response: Type.Object({
      columns: Type.Array(Type.Object({ name: Type.String(), data_type: Type.String(), nullable: Type.Boolean() }), {
        description: "Without the column of vectors.",
      }),
      rows: Type.Array(Type.Array(Type.Unknown()), { description: "Rows without a vector are left out." }),
      x: Type.Array(Type.Number(), { description: "From −1 to 1, one for each row." }),
      y: Type.Array(Type.Number()),
      column: Type.String({ description: "The column of vectors." }),
      dimensions: Type.Integer(),
      truncated: Type.Boolean({ description: "The query has more rows." }),
    }),
  },
] as const satisfies readonly EndpointSpec[];
