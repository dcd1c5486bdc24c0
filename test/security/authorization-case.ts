/**
 * What a case of the matrix of authorization.test.ts is: a request that names objects of a tenant, and how it is
 * answered.
 */

/** What one tenant has; all names and ids differ from other tenants'. */
export interface World {
  readonly tenant: string;
  /** It is not the caller's own: what is to be deleted is what the world names. */
  readonly isAnothers: boolean;
  readonly user: string;
  readonly table: string;
  readonly collection: string;
  readonly document: string;
  readonly vectors: string;
  readonly vector: string;
  readonly node: number;
  readonly otherNode: number;
  readonly edge: number;
  readonly label: string;
  readonly graph: string;
  readonly index: string;
  readonly session: string;
  readonly response: string;
  readonly namespace: string;
  readonly memory: string;
  readonly apiKey: string;
  readonly transaction: string;
  readonly statement: string;
  /** A training. */
  readonly job: string;
  readonly evaluation: string;
  readonly recipe: string;
  readonly execution: string;
}

export interface Sent {
  /** With variables filled in and a query string; the endpoint's path where absent. */
  readonly path?: string;
  readonly body?: unknown;
  /** text/csv and the like; JSON where absent. */
  readonly type?: string;
}

export type Step = readonly [method: string, path: string, body?: unknown];

export interface Case {
  /** `n` differs from call to call, for names of what is made. */
  readonly send: (world: World, n: number) => Sent;
  /** What must be there first, made by a super_admin of the caller's tenant; failures do not matter. */
  readonly before?: (world: World, n: number) => readonly Step[];
  /** Statuses of a request that is let through; 2xx where absent. Only where success needs what a test cannot have. */
  readonly statuses?: readonly number[];
  /** Answers to a request with another tenant's ids; absent: it names no object. */
  readonly others?: string;
  /** It needs the person, not a key. */
  readonly person?: true;
  /** The handler asks for the role admin or super_admin. */
  readonly admins?: true;
}

export const get = (path: (world: World) => string, others?: string): Case => ({
  send: (world) => ({ path: path(world) }),
  ...(others === undefined ? {} : { others }),
});
export const post = (body: unknown): Case => ({ send: () => ({ body }) });
