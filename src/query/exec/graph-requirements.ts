/**
 * What constraints of a graph ask of each node or relationship by itself: properties that have to be there, and their
 * types. Constraints that a value is there once are indexes.
 */
import { EDGE_COLUMN, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { GraphConstraintDef, TableDef } from "../../catalog/table.js";
import { cypherError } from "../../values/cypher-error.js";
import { isOfType } from "../../values/cypher-type.js";
import { includesLabel } from "../../values/labels.js";
import type { VariantMap } from "../../values/variant.js";
import type { Row } from "./table-writer.js";

export interface EntityToCheck {
  readonly id: number;
  /** Labels as LABEL_MARK says, or the type. */
  readonly kind: string;
  readonly properties: VariantMap;
}

export class GraphRequirements {
  private readonly required: readonly GraphConstraintDef[];
  private readonly isNodes: boolean;

  /** `table`: any; of those that are no graph's nothing is asked. */
  constructor(table: TableDef) {
    const graph = graphDefOf(table);
    this.isNodes = graph?.of === "nodes";
    this.required = (graph?.constraints ?? []).filter(({ requires }) => requires !== "unique");
  }

  get isEmpty(): boolean {
    return this.required.length === 0;
  }

  /** As `check`, for a row of the table. */
  checkRow(row: Row): void {
    if (this.isEmpty) return;
    const [kind, properties] = this.isNodes
      ? [row[NODE_COLUMN.labels], row[NODE_COLUMN.properties]]
      : [row[EDGE_COLUMN.type], row[EDGE_COLUMN.properties]];
    const id = row[NODE_COLUMN.id] as number;
    this.check({ id, kind: kind as string, properties: properties as VariantMap });
  }

  /**
   * Throws ConstraintValidationFailed for a property that a constraint wants and the entity has not, or has of another
   * type.
   */
  check({ id, kind, properties }: EntityToCheck): void {
    for (const { label, properties: names, name, valueType } of this.required) {
      if (!(this.isNodes ? includesLabel(kind, label) : kind === label)) continue;
      const isWrong = (key: string) =>
        valueType === undefined ? !properties.has(key) : !isOfType(properties.get(key) ?? null, valueType);
      const wrong = names.find(isWrong);
      if (wrong === undefined) continue;
      const what = `${this.isNodes ? `node ${id} with label` : `relationship ${id} with type`} "${label}"`;
      const must =
        valueType === undefined ? `have the property "${wrong}"` : `have a property "${wrong}" of type ${valueType}`;
      const message = `${what} must ${must} (constraint "${name}")`;
      const detail = valueType === undefined ? "MissingProperty" : "WrongPropertyType";
      throw cypherError("ConstraintValidationFailed", detail, message);
    }
  }
}
