/** How long the tenant's past is kept, and its branches. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { HISTORY_SECONDS_MAX } from "../limits.js";
import { MUST_BE } from "../schema-fault.js";
import { Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

/** As in a URL and in the header X-Tessera-Branch. */
export const BRANCH_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const Name = Type.String({ pattern: BRANCH_NAME.source, description: "1 to 63 characters of a-z, 0-9, - and _." });
const ofBranch = Type.Object({ name: Name });

const Moment = Type.Object({
  sequence: Type.Integer({ description: "The number of a commit: AS OF SEQUENCE." }),
  at: Timestamp,
});

const Merge = Type.Object(Moment.properties, {
  description: "The last merge of everything. The next one writes what has changed since.",
});

const History = Type.Object({
  kept: Type.Boolean(),
  window_seconds: Nullable(Type.Integer({ description: "null: without end, or for branches only." })),
  oldest: Nullable(Moment),
  newest: Moment,
});

const Branch = Type.Object({
  name: Type.String(),
  from: Nullable(Type.String({ description: "The branch that it was forked from; null: the tenant." })),
  empty: Type.Boolean({ description: "It began with nothing, and was forked from nothing." }),
  start: Moment,
  merged: Nullable(Merge),
  created_at: Timestamp,
  created_by: Type.String(),
  expires_at: Nullable(Timestamp),
  held_bytes: Type.Integer({
    description:
      "Keys and values that the branch does not share. After TRUNCATE or DROP it may take a while until it falls.",
  }),
  quota_bytes: Nullable(Type.Integer({ description: "`held_bytes` may not grow beyond it; null: without bound." })),
  users: Nullable(Type.Array(Type.String(), { description: "Who may enter it, beside administrators; null: all." })),
  keys: Nullable(Type.Array(Type.String(), { description: "Ids of the API keys that may enter it; null: all." })),
  policies: Type.Enum(["tenant", "branch"], { description: "Whose roles and policies say what is seen in it." }),
});

const Quota = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Bytes that the branch may hold of its own. Commits that need more are refused; null: without bound.",
});

/** Who may enter it. */
const Access = {
  users: Type.Optional(
    Nullable(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1000,
        description:
          "Names of the users who may enter the branch, beside administrators who have signed in; null: all of the tenant.",
      }),
    ),
  ),
  keys: Type.Optional(
    Nullable(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1000,
        description: "Ids of the API keys that may enter the branch; null: those of all users who may.",
      }),
    ),
  ),
  policies: Type.Optional(
    Type.Enum(["tenant", "branch"], {
      description:
        "`tenant`: only who may see all of the tenant, by its present roles and policies, enters the branch. `branch`: the roles and policies of the branch alone say what is seen in it. Default: tenant, or as `from` has it.",
    }),
  ),
};

const Row = Nullable(Type.Record(Type.String(), Type.Unknown()));
const Counts = { added: Type.Integer(), removed: Type.Integer(), changed: Type.Integer() };

const ChangedRow = Type.Object({
  table: Type.String(),
  change: Type.Enum(["added", "removed", "changed"]),
  before: Row,
  after: Row,
});

const InOrigin = Type.Integer({
  description:
    "So many of these rows the origin has as the branch has them, as after a merge of some tables. Only where a branch is compared with what it began with.",
});

const Kind = Type.Enum(["table", "collection", "graph", "vectors"], {
  description: "A graph has two tables: of its nodes, and of its relationships.",
});

const Diff = Type.Object({
  tables: Type.Array(Type.Object({ table: Type.String(), kind: Kind, ...Counts, in_origin: Type.Optional(InOrigin) })),
  rows: Type.Array(Type.Object({ ...ChangedRow.properties, in_origin: Type.Optional(Type.Boolean()) }), {
    description:
      "In the order of their keys, up to `limit`; those of tables that were made, dropped, emptied or rewritten come last.",
  }),
  definitions: Type.Array(Type.String(), {
    description: "Tables whose definition has been changed, made or dropped.",
  }),
  complete: Type.Boolean({ description: "False: there are more rows after those." }),
});

/** Which rows a difference shows. */
const ShownRows = {
  table: Type.Optional(Type.String({ description: "Only this table." })),
  change: Type.Optional(
    Type.Enum(["added", "removed", "changed"], { description: "`rows` has only these. `tables` counts all." }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,4}$",
      description: "Rows that are shown. Default: 100, at most 9,999; of a stream: all.",
    }),
  ),
  offset: Type.Optional(
    Type.String({ pattern: "^[0-9]{1,9}$", description: "So many rows before them are left out." }),
  ),
};

const Merged = Type.Object({
  merged: Type.Boolean({ description: "False: nothing was written, because of the conflicts or of `dry_run`." }),
  ...Counts,
  resolved: Type.Integer({
    description: "Conflicts of which the statement of `resolve` has said what the row is to be.",
  }),
  conflicts: Type.Array(Type.Object({ table: Type.String(), base: Row, ours: Row, theirs: Row }), {
    description:
      "Rows that both have changed since the fork: the first ones. Ours is the origin's, theirs the branch's.",
  }),
  conflicts_total: Type.Integer(),
});

/** What the statement reads, and what it gives. */
export const Resolve = Strict({
  sql: Type.String({
    minLength: 1,
    description:
      "A query over the table `conflict` (`number` integer; `table_name` text; `base`, `ours`, `theirs` jsonb). It gives two columns: `number`, and the row as jsonb with all columns, or NULL for no row. Conflicts that it leaves out are as `conflicts` says.",
  }),
});

export const TablesToRestore = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: 100,
  description: "Several, in place of `table`. The two tables of a graph go together.",
});

const Undo = Strict({
  table: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'With the schema and a dot, where that is not `public`. Where a name has a dot of its own, in quotes: `"a.b"`.',
    }),
  ),
  tables: Type.Optional(TablesToRestore),
  as_of: Type.Union([Type.String(), Type.Integer({ minimum: 0 })], {
    description: "A time, or the number of a commit.",
  }),
  where: Type.Optional(
    Type.String({ minLength: 1, description: "A condition of SQL: only rows for which it is true, now or then." }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        "Nothing is written. Constraints are checked as if it were, except those that wait for the commit (`INITIALLY DEFERRED`).",
    }),
  ),
});

const Undone = Type.Object({
  undone: Type.Boolean({ description: "False: nothing was written, because of `dry_run`." }),
  as_of: Moment,
  ...Counts,
  rows: Type.Array(ChangedRow, {
    description: "What is written, up to 100 rows: as they are now, and as they were.",
  }),
});

export const branchEndpoints = [
  {
    name: "history.get",
    door: "none",
    method: "GET",
    path: "/v1/history",
    summary: "Whether the tenant's past is kept, and the moments that `SELECT … AS OF` can read.",
    tag: "branches",
    access: "member",
    home: "tenant",
    response: History,
  },
  {
    name: "history.set",
    door: "none",
    method: "PUT",
    path: "/v1/history",
    summary:
      "Keep the tenant's past from now on, for that long. Each write then also stores what it replaces, until the window has passed.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    body: Strict({
      window_seconds: Nullable(
        Type.Integer({ minimum: 1, maximum: HISTORY_SECONDS_MAX, description: "null: without end." }),
      ),
    }),
    example: { body: { window_seconds: 86_400 } },
    response: History,
  },
  {
    name: "history.delete",
    door: "none",
    method: "DELETE",
    path: "/v1/history",
    summary: "Forget the tenant's past, but for what its branches need.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    status: 204,
  },
  {
    name: "history.diff",
    door: "all",
    method: "GET",
    path: "/v1/history/diff",
    summary:
      "What has changed between two moments of the tenant, row by row, with both values. It takes as long as there are changes. With Accept: application/x-ndjson the answer is a stream, as that of a branch's difference.",
    tag: "branches",
    access: "member",
    home: "tenant",
    pages: { items: "rows" },
    query: Strict({
      from: Type.String({ minLength: 1, description: "A time, or the number of a commit." }),
      to: Type.Optional(Type.String({ minLength: 1, description: "The same. Default: now." })),
      ...ShownRows,
    }),
    streamedReply: ["application/x-ndjson"],
    response: Diff,
  },
  {
    name: "history.undo",
    door: "all",
    method: "POST",
    path: "/v1/history/undo",
    summary:
      "Make the rows of tables what they were at an earlier moment, in one transaction, with all constraints checked. Triggers do not fire.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    body: Undo,
    example: { body: { table: "orders", as_of: "2026-11-20T10:00:00Z", where: "id < 100", dry_run: true } },
    response: Undone,
  },
  {
    name: "branches.create",
    door: "all",
    method: "POST",
    path: "/v1/branches",
    summary:
      "Fork the tenant. The branch has all that the tenant had at that moment and shares it: a fork takes no time and no room. Requests with the header X-Tessera-Branch read and write the branch.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    keeps: "memory",
    body: Strict({
      name: Name,
      from: Type.Optional(Nullable(Name)),
      empty: Type.Optional(
        Type.Boolean({ description: "It begins with nothing but the tenant's users; without `from` and `as_of`." }),
      ),
      as_of: Type.Optional(
        Type.Union([Type.String(), Type.Integer({ minimum: 0 })], {
          description: "A time, or the number of a commit, within what GET /v1/history shows. Default: now.",
        }),
      ),
      ttl_seconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: HISTORY_SECONDS_MAX, description: "Then it is deleted." }),
      ),
      quota_bytes: Type.Optional(Nullable(Quota)),
      ...Access,
    }),
    example: { body: { name: "try", ttl_seconds: 3600 } },
    response: Branch,
    status: 201,
  },
  {
    name: "branches.list",
    door: "none",
    method: "GET",
    path: "/v1/branches",
    summary: "The tenant's branches.",
    tag: "branches",
    access: "member",
    home: "tenant",
    pages: { items: "branches", total: "total" },
    query: Strict(PageQuery),
    response: Type.Object({ branches: Type.Array(Branch), total: Type.Integer() }),
  },
  {
    name: "branches.get",
    door: "none",
    method: "GET",
    path: "/v1/branches/{name}",
    summary: "One branch.",
    tag: "branches",
    access: "member",
    home: "tenant",
    params: ofBranch,
    response: Branch,
  },
  {
    name: "branches.change",
    door: "none",
    method: "PATCH",
    path: "/v1/branches/{name}",
    summary: "Give a branch another quota, another time at which it is deleted, or say anew who may enter it.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    params: ofBranch,
    body: Strict({
      ttl_seconds: Type.Optional(
        Nullable(
          Type.Integer({ minimum: 1, maximum: HISTORY_SECONDS_MAX, description: "From now on; null: it stays." }),
        ),
      ),
      quota_bytes: Type.Optional(Nullable(Quota)),
      ...Access,
    }),
    example: { params: { name: "try" }, body: { quota_bytes: 1_000_000_000 } },
    response: Branch,
  },
  {
    name: "branches.delete",
    door: "none",
    method: "DELETE",
    path: "/v1/branches/{name}",
    summary:
      "Delete a branch and all that it does not share. A branch from which others were forked cannot be deleted.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    params: ofBranch,
    status: 204,
  },
  {
    name: "branches.diff",
    door: "all",
    method: "GET",
    path: "/v1/branches/{name}/diff",
    summary:
      "What the branch has changed since it was forked, or has otherwise than another one, row by row, with both values. It takes as long as there are changes. With Accept: application/x-ndjson the answer is a stream of all rows, one a line; the last line has the rest of the answer, or the error.",
    tag: "branches",
    access: "member",
    home: "tenant",
    params: ofBranch,
    pages: { items: "rows" },
    query: Strict({
      against: Type.Optional(
        Type.String({
          pattern: `^$|${BRANCH_NAME.source}`,
          [MUST_BE]: "the name of a branch, or empty",
          description:
            "Compare with this branch as it is, in place of what the branch began with. Empty: with the tenant itself.",
        }),
      ),
      ...ShownRows,
    }),
    streamedReply: ["application/x-ndjson"],
    response: Diff,
  },
  {
    name: "branches.merge",
    door: "all",
    method: "POST",
    path: "/v1/branches/{name}/merge",
    summary:
      "Write the branch's changes into its origin, in one transaction, with all constraints checked. Rows that both have changed since the fork are conflicts: they are refused, or one side counts.",
    tag: "branches",
    access: "admin",
    home: "tenant",
    params: ofBranch,
    body: Strict({
      conflicts: Type.Optional(Type.Enum(["refuse", "ours", "theirs"], { description: "Default: refuse." })),
      resolve: Type.Optional(Resolve),
      dry_run: Type.Optional(Type.Boolean({ description: "Nothing is written." })),
      tables: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          minItems: 1,
          maxItems: 1000,
          description:
            "Only the rows of these tables, whose definitions must be those of the fork. Default: everything.",
        }),
      ),
    }),
    bodyOptional: true,
    example: { params: { name: "try" }, body: { dry_run: true } },
    response: Merged,
  },
] as const satisfies readonly EndpointSpec[];
