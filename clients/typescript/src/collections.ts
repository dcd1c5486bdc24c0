/** Collections of documents and of vectors. */
import type { CallOptions, WriteOptions } from "./options.js";
import { newKey, pathPart, type Transport } from "./transport.js";

/** A document as it is stored, with its id. */
export type Stored<D> = D & { readonly id: string };

/** A document that a search has found. */
export type Found<D> = Stored<D> & { readonly score?: number };

/** What to look for: words, a vector, a filter, or several of them. */
export interface SearchOptions extends CallOptions {
  /** Words. */
  readonly query?: string;
  /** By words, by similarity, or by both. */
  readonly mode?: "text" | "vector" | "hybrid";
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly limit?: number;
  readonly offset?: number;
}

/** A collection of documents; `D` is their type. */
export class Collection<D extends object = Record<string, unknown>> {
  private readonly path: string;

  /** @internal */
  constructor(
    private readonly transport: Transport,
    readonly name: string,
  ) {
    this.path = `/v1/collections/${pathPart(name)}`;
  }

  /** Makes the collection. `schema`: `{fields: [{name, type, required, unique, index, embed}]}`. */
  async create(schema?: object, options: WriteOptions = {}): Promise<void> {
    const body = { name: this.name, ...(schema !== undefined && { schema }) };
    await this.transport.ask("POST", "/v1/collections", written(body, options));
  }

  /** Removes the collection with its documents. */
  async drop({ signal }: CallOptions = {}): Promise<void> {
    await this.transport.ask("DELETE", this.path, { signal });
  }

  /** Stores a document; gives its id, which is made up unless it has one. */
  async insert(document: D & { readonly id?: string }, options: WriteOptions = {}): Promise<string> {
    const sent = written(document, options);
    return (await this.transport.ask<{ id: string }>("POST", `${this.path}/documents`, sent)).id;
  }

  /** Stores documents, all or none; gives their ids. */
  async insertMany(
    documents: readonly (D & { readonly id?: string })[],
    options: WriteOptions = {},
  ): Promise<string[]> {
    const sent = written({ documents }, options);
    return (await this.transport.ask<{ ids: string[] }>("POST", `${this.path}/documents/bulk`, sent)).ids;
  }

  /** Throws NotFoundError. */
  get(id: string, { signal }: CallOptions = {}): Promise<Stored<D>> {
    return this.transport.ask("GET", this.document(id), { signal });
  }

  /** Changes members by a merge patch (RFC 7386): null removes one. */
  patch(id: string, change: Readonly<Record<string, unknown>>, { signal }: CallOptions = {}): Promise<Stored<D>> {
    return this.transport.ask("PATCH", this.document(id), { body: change, signal });
  }

  /** Puts a document in the place of the one with that id. */
  replace(id: string, data: D, options: WriteOptions = {}): Promise<Stored<D>> {
    return this.transport.ask("PUT", this.document(id), written({ data }, options));
  }

  /** Throws NotFoundError. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.transport.ask("DELETE", this.document(id), { signal });
  }

  /** All documents in the order of their ids, page by page as they are read. */
  async *list({
    signal,
    pageSize = 200,
  }: CallOptions & { readonly pageSize?: number } = {}): AsyncGenerator<Stored<D>> {
    let cursor: string | undefined;
    do {
      const query = { limit: pageSize, cursor };
      const page = await this.transport.ask<{ items: Stored<D>[]; next_cursor: string | null }>(
        "GET",
        `${this.path}/documents`,
        { query, signal },
      );
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Documents by words, by similarity, by both, or by a filter alone; the best first. */
  async search({ signal, ...body }: SearchOptions): Promise<Found<D>[]> {
    const sent = { body, signal, reads: true };
    const found = await this.transport.ask<{ documents: Found<D>[] }>("POST", `${this.path}/search`, sent);
    return found.documents;
  }

  private document(id: string): string {
    return `${this.path}/documents/${pathPart(id)}`;
  }
}

/** A vector to store. */
export interface VectorItem<M> {
  readonly id: string;
  readonly vector: readonly number[] | Float32Array;
  readonly metadata?: M;
}

/** A vector that a search has found. */
export interface VectorMatch<M> {
  readonly id: string;
  /** Grows with similarity. */
  readonly score: number;
  readonly distance: number;
  readonly metadata?: M;
  readonly vector?: readonly number[];
}

/** What to look for: a vector, or a text, which the server embeds. */
export interface VectorSearch extends CallOptions {
  readonly vector?: readonly number[] | Float32Array;
  readonly query?: string;
  readonly limit?: number;
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly includeVectors?: boolean;
}

/** A collection of vectors; `M` is the type of their metadata. */
export class VectorCollection<M extends object = Record<string, unknown>> {
  private readonly path: string;

  /** @internal */
  constructor(
    private readonly transport: Transport,
    readonly name: string,
  ) {
    this.path = `/v1/vectors/collections/${pathPart(name)}`;
  }

  /** Makes the collection. `metric`: cosine unless said. */
  async create(dimensions: number, metric?: string, options: WriteOptions = {}): Promise<void> {
    const body = { name: this.name, dimensions, ...(metric !== undefined && { metric }) };
    await this.transport.ask("POST", "/v1/vectors/collections", written(body, options));
  }

  /** Removes the collection with its vectors. */
  async drop({ signal }: CallOptions = {}): Promise<void> {
    await this.transport.ask("DELETE", this.path, { signal });
  }

  /** Stores vectors, all or none; one with a known id takes the place of the old one. */
  async upsert(items: readonly VectorItem<M>[], options: WriteOptions = {}): Promise<void> {
    const vectors = items.map((item) => ({ ...item, vector: Array.from(item.vector) }));
    const sent = written({ vectors, on_conflict: "replace" }, options);
    await this.transport.ask("POST", `${this.path}/vectors/batch`, sent);
  }

  /** Throws NotFoundError. */
  get(id: string, { signal }: CallOptions = {}): Promise<{ id: string; vector: number[]; metadata: M }> {
    return this.transport.ask("GET", `${this.path}/vectors/${pathPart(id)}`, { signal });
  }

  /** Removes vectors; gives how many there were. */
  async delete(ids: readonly string[], { signal }: CallOptions = {}): Promise<number> {
    const sent = { body: { ids }, signal };
    return (await this.transport.ask<{ deleted: number }>("DELETE", `${this.path}/vectors`, sent)).deleted;
  }

  async count({ signal }: CallOptions = {}): Promise<number> {
    return (await this.transport.ask<{ count: number }>("GET", `${this.path}/count`, { signal })).count;
  }

  /** The nearest vectors, the best first. */
  search({ signal, vector, includeVectors, ...rest }: VectorSearch): Promise<VectorMatch<M>[]> {
    const body = {
      ...rest,
      ...(vector !== undefined && { vector: Array.from(vector) }),
      ...(includeVectors !== undefined && { include_vectors: includeVectors }),
    };
    return this.transport.ask("POST", `${this.path}/search`, { body, signal, reads: true });
  }
}

function written(body: object, { signal, idempotencyKey = newKey() }: WriteOptions) {
  return { body, signal, idempotencyKey };
}
