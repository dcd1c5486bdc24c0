/**
 * Finds the columns that take their default from a sequence. A default is kept as SQL text in which binders have
 * written the sequence in full (`nextval('public.s')`), so the text is enough.
 */
import type { CatalogView } from "./catalog-view.js";
import { quotedIdentifier } from "./relation-names.js";
import type { SequenceDef } from "./sequence.js";
import type { ColumnDef, TableDef } from "./table.js";

export interface DependentColumn {
  readonly table: TableDef;
  readonly column: ColumnDef;
}

/** `schema.name` as a literal of SQL text has it. */
export function sequenceLiteral(sequence: Pick<SequenceDef, "schema" | "name">): string {
  const canonical = `${quotedIdentifier(sequence.schema)}.${quotedIdentifier(sequence.name)}`;
  return `'${canonical.replaceAll("'", "''")}'`;
}

function mentions(column: ColumnDef, sequence: SequenceDef): boolean {
  return column.defaultSql?.includes(`nextval(${sequenceLiteral(sequence)})`) ?? false;
}

export function dependentsOf(sequence: SequenceDef, view: Pick<CatalogView, "tables">): DependentColumn[] {
  return view
    .tables()
    .flatMap((table) =>
      table.columns.filter((column) => mentions(column, sequence)).map((column) => ({ table, column })),
    );
}

/** The table with that sequence under its new name in its defaults. */
export function replaceSequenceName(table: TableDef, before: SequenceDef, after: SequenceDef): TableDef {
  const columns = table.columns.map((column) =>
    mentions(column, before)
      ? Object.freeze({
          ...column,
          defaultSql: column.defaultSql!.replaceAll(
            `nextval(${sequenceLiteral(before)})`,
            `nextval(${sequenceLiteral(after)})`,
          ),
        })
      : column,
  );
  return Object.freeze({ ...table, columns });
}

/** The table without the defaults that need the sequence. */
export function withoutDefaults(table: TableDef, sequence: SequenceDef): TableDef {
  const columns = table.columns.map((column) =>
    mentions(column, sequence) ? Object.freeze({ ...column, defaultSql: null, identity: null }) : column,
  );
  return Object.freeze({ ...table, columns });
}
