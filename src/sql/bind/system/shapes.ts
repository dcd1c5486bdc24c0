/** The shapes of PostgreSQL's system relations, read from the data that was taken from its catalog. */
import { typeFromName } from "../../../query/expr/type-spellings.js";
import { INFORMATION_TYPES, INT2_VECTOR, OID_VECTOR } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, type SqlType, TEXT, typeOf, type Value } from "../../../values/values.js";
import { SYSTEM_RELATION_SHAPES } from "./data/system-relations.js";

export type SystemSchema = "pg_catalog" | "information_schema";

export interface ShapeColumn {
  readonly name: string;
  readonly type: SqlType;
  /** The type's name in PostgreSQL, which may have types that stand for others here. */
  readonly pgType: string;
  readonly notNull: boolean;
}

export interface Shape {
  readonly schema: SystemSchema;
  readonly name: string;
  readonly oid: number;
  readonly kind: "r" | "v";
  /** The OID of the type of its rows. */
  readonly rowType: number;
  readonly columns: readonly ShapeColumn[];
}

/** Types that are written as another one. */
const STANDING_FOR: Readonly<Record<string, SqlType>> = {
  char: typeOf("char"),
  _char: arrayOf(typeOf("char")),
  int2vector: INT2_VECTOR,
  oidvector: OID_VECTOR,
  aclitem: TEXT,
  _aclitem: arrayOf(TEXT),
  pg_node_tree: TEXT,
  pg_ndistinct: TEXT,
  pg_dependencies: TEXT,
  pg_mcv_list: TEXT,
  anyarray: arrayOf(TEXT),
  _pg_statistic: arrayOf(TEXT),
  ...INFORMATION_TYPES,
};

function typeNamed(name: string): SqlType {
  const known = STANDING_FOR[name];
  if (known !== undefined) return known;
  return name.startsWith("_") ? arrayOf(typeNamed(name.slice(1))) : typeFromName(name);
}

/** Lines of a table of data. */
export function linesOf(data: string): string[] {
  return data.trim().split("\n");
}

/** Records of a table of data that has several in a line. */
export function* recordsOf(data: string): Iterable<string> {
  for (const line of linesOf(data)) yield* line.split("\t");
}

function shapeOf(line: string): Shape {
  const [schema, name, oid, kind, rowType, columns] = line.split("|") as [SystemSchema, ...string[]];
  return {
    schema,
    name: name!,
    oid: Number(oid),
    kind: kind as Shape["kind"],
    rowType: Number(rowType),
    columns: columns!.split(",").map((column) => {
      const [own, pgType] = column.split(":") as [string, string];
      const bare = pgType.replace(/!$/, "");
      return { name: own, type: typeNamed(bare), pgType: bare, notNull: bare !== pgType };
    }),
  };
}

let shapes: ReadonlyMap<string, Shape> | null = null;

/** All of them, by `schema.name`. */
export function systemShapes(): ReadonlyMap<string, Shape> {
  shapes ??= new Map(
    linesOf(SYSTEM_RELATION_SHAPES).map((line) => {
      const shape = shapeOf(line);
      return [`${shape.schema}.${shape.name}`, shape];
    }),
  );
  return shapes;
}

let byOid: ReadonlyMap<number, Shape> | null = null;

export function shapeOfOid(oid: number): Shape | null {
  byOid ??= new Map([...systemShapes().values()].map((shape) => [shape.oid, shape]));
  return byOid.get(oid) ?? null;
}

/** What a column has that a row says nothing about. */
export function usualValue({ type, notNull }: ShapeColumn): Value {
  if (!notNull) return null;
  if (type.element !== null) return sqlArray([]);
  if (type.name === "bool") return false;
  return ["text", "name", "varchar", "char", "bytea"].includes(type.name) ? "" : 0;
}

export const columnsOfShape = ({ columns }: Shape): string[] => columns.map(({ name }) => name);
