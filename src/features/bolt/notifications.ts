/**
 * Notifications of Neo4j's drivers: what a client should know about a statement that did not fail, with the codes,
 * titles and GQL statuses of Neo4j. Called by statements.ts; written by summary.ts.
 */
import type { Hints, NameAt, Note } from "../../cypher/hints/hints.js";
import type { NotificationFilter, NotificationSeverity } from "../../protocol/bolt/notification-filter.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";

export interface Notification {
  /** Behind `Neo.ClientNotification.`. */
  readonly code: string;
  readonly title: string;
  readonly description: string;
  readonly severity: NotificationSeverity;
  readonly category: "UNRECOGNIZED" | "PERFORMANCE" | "DEPRECATION" | "SCHEMA";
  readonly gqlStatus: string;
  /** Behind `warn: ` or `info: `. */
  readonly status: string;
  /** An offset in the text; null: the whole statement. */
  readonly position: number | null;
}

/** Names in a statement that the graph does not have. */
export type Missing = Pick<Hints, "labels" | "types" | "keys">;

export function isWanted({ minimum, disabled }: NotificationFilter, { severity, category }: Wanted): boolean {
  if (minimum === "OFF" || (minimum === "WARNING" && severity === "INFORMATION")) return false;
  return !disabled.some((each) => each.toUpperCase() === category);
}

type Wanted = Pick<Notification, "severity" | "category">;

/** Of names that are not there. */
export const UNRECOGNIZED: Wanted = { severity: "WARNING", category: "UNRECOGNIZED" };

/** `database`: what the client calls the graph. */
export function missingNotifications({ labels, types, keys }: Missing, database: string): Notification[] {
  const spelling = "Verify that the spelling is correct.";
  const told = (
    parts: Pick<Notification, "code" | "title" | "gqlStatus">,
    texts: readonly [string, string, string],
  ) => {
    const [what, called, named] = texts;
    return ({ name, position }: NameAt): Notification => ({
      ...parts,
      ...UNRECOGNIZED,
      description: `${what} in your query is not available in the database, make sure you didn't misspell it or that the ${called} is available when you run this statement in your application (the missing ${named} is: ${name})`,
      status: `${called} does not exist. The ${called} \`${name}\` does not exist in database \`${database}\`. ${spelling}`,
      position,
    });
  };
  const label = told(
    {
      code: "Statement.UnknownLabelWarning",
      title: "The provided label is not in the database.",
      gqlStatus: "01N50",
    },
    ["One of the labels", "label", "label name"],
  );
  const type = told(
    {
      code: "Statement.UnknownRelationshipTypeWarning",
      title: "The provided relationship type is not in the database.",
      gqlStatus: "01N51",
    },
    ["One of the relationship types", "relationship type", "relationship type"],
  );
  const key = told(
    {
      code: "Statement.UnknownPropertyKeyWarning",
      title: "The provided property key is not in the database",
      gqlStatus: "01N52",
    },
    ["One of the property names", "property key", "property name"],
  );
  return [...labels.map(label), ...types.map(type), ...keys.map(key)];
}

export function notificationOf(note: Note): Notification {
  const { position } = note;
  switch (note.kind) {
    case "cartesian product":
      return {
        code: "Statement.CartesianProduct",
        title: "This query builds a cartesian product between disconnected patterns.",
        description: `If a part of a query contains multiple disconnected patterns, this will build a cartesian product between all those parts. This may produce a large amount of data and slow down query processing. While occasionally intended, it may often be possible to reformulate the query that avoids the use of this cross product, perhaps by adding a relationship between the different parts or by using OPTIONAL MATCH (${note.apart.includes(",") ? "identifiers are" : "identifier is"}: ${note.apart})`,
        severity: "INFORMATION",
        category: "PERFORMANCE",
        gqlStatus: "03N90",
        status: `cartesian product. The disconnected pattern \`${note.patterns}\` builds a cartesian product. A cartesian product may produce a large amount of data and slow down query processing.`,
        position,
      };
    case "unbounded search":
      return {
        code: "Statement.UnboundedVariableLengthPattern",
        title: "The provided pattern is unbounded, consider adding an upper limit to the number of node hops.",
        description:
          "Using shortest path with an unbounded pattern will likely result in long execution times. It is recommended to use an upper limit to the number of node hops in your pattern.",
        severity: "INFORMATION",
        category: "PERFORMANCE",
        gqlStatus: "03N91",
        status: `unbounded variable length pattern. The provided pattern \`${note.pattern}\` is unbounded. Shortest path with an unbounded pattern may result in long execution times. Use an upper limit (e.g. \`[*..5]\`) on the number of node hops in your pattern.`,
        position,
      };
    case "deprecated id": {
      const remedy = "elementId or consider using an application-generated id";
      return {
        ...DEPRECATED,
        description: `The query used a deprecated function. ('id' has been replaced by '${remedy}')`,
        gqlStatus: "01N01",
        status: `feature deprecated with replacement. id is deprecated. It is replaced by ${remedy}.`,
        position,
      };
    }
    case "deprecated import": {
      const what = "CALL subquery without a variable scope clause is now deprecated. Use CALL (…) { ... }";
      return {
        ...DEPRECATED,
        description: what,
        gqlStatus: "01N00",
        status: `feature deprecated. ${what}`,
        position,
      };
    }
  }
}

const DEPRECATED = {
  code: "Statement.FeatureDeprecationWarning",
  title: "This feature is deprecated and will be removed in future versions.",
  severity: "WARNING",
  category: "DEPRECATION",
} as const;

/** Of a command about indexes and constraints that had nothing to do. */
export function schemaNotification(bound: BoundStatement, notice: string): Notification {
  const isDrop = bound.kind === "ddl" && bound.command.kind === "drop graph index";
  return {
    code: isDrop ? "Schema.IndexOrConstraintDoesNotExist" : "Schema.IndexOrConstraintAlreadyExists",
    title: "Nothing was done.",
    description: notice,
    severity: "INFORMATION",
    category: "SCHEMA",
    gqlStatus: isDrop ? "00NA1" : "00NA0",
    status: `successful completion - index or constraint ${isDrop ? "does not exist" : "already exists"}. ${notice}`,
    position: null,
  };
}
