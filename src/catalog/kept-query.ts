/** Texts that definitions keep, of views, policies, rules and functions, with what the names in them mean. */
import { referencesIn } from "./object-reference.js";

/** A relation that a view's text names, as it was then. */
export interface ViewRelation {
  readonly kind: "table" | "view" | "graph";
  /** Of the table or view, which may have another name now. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** By column id (of a view: its number from 0). `used`: the view cannot do without the column. */
  readonly columns: readonly { readonly id: number; readonly name: string; readonly used: boolean }[];
}

/** A column of a row that is changed, or that a policy decides about: it cannot be given another name for the text. */
export interface ColumnPlace {
  /** UTF-16 index of the name in the text. */
  readonly at: number;
  /** Id of the relation. */
  readonly relation: number;
  /** What is answered with has the column's name. */
  readonly named?: true;
}

/** A stored query: of a view, or of a materialized view's table. */
export interface ViewQuery {
  /** The whole CREATE statement. */
  readonly sql: string;
  /** Where its names were looked up. */
  readonly searchPath: readonly string[];
  readonly relations: readonly ViewRelation[];
  /** Functions and types that statements made stand in the text by their ids (object-reference.ts). */
  readonly exact?: true;
  /** Where the text names columns of rows that have the names of their relation; absent: nowhere, or not known. */
  readonly places?: readonly ColumnPlace[];
  /** Of a text from before: ids of the functions that its names may mean. */
  readonly functions?: readonly number[];
}

/** Ids of functions that the query calls; of types, too, where it names them. */
export function functionsOf({ sql, exact, functions = [] }: ViewQuery): readonly number[] {
  return exact ? referencesIn(sql) : functions;
}
