/**
 * The first line of a file of nodes or relationships in Neo4j's bulk format: names and types of its fields, as
 * `name:type`. `:ID`, `:LABEL`, `:START_ID`, `:END_ID`, `:TYPE` and `:IGNORE` are no properties; an id may be one, too
 * (`personId:ID(Person)`). Called by graph-import.ts.
 */
import { sqlError } from "../../../protocol/errors.js";
import { type BulkType, bulkTypeOf } from "./bulk-values.js";

export type GraphFileKind = "nodes" | "relationships";

type Role = "id" | "labels" | "start" | "end" | "type" | "property" | "ignored";

export interface BulkField {
  readonly role: Role;
  /** Of the property; null: it is none. */
  readonly property: string | null;
  /** Of ids: the group of nodes among which they are unique. */
  readonly space: string;
  /** Of the property. */
  readonly type: BulkType;
  /** As the header has it. */
  readonly text: string;
}

const ROLES: Readonly<Record<string, { readonly role: Role; readonly of: GraphFileKind | null }>> = {
  ID: { role: "id", of: "nodes" },
  LABEL: { role: "labels", of: "nodes" },
  START_ID: { role: "start", of: "relationships" },
  END_ID: { role: "end", of: "relationships" },
  TYPE: { role: "type", of: "relationships" },
  IGNORE: { role: "ignored", of: null },
};

/** name:TYPE(space){options}; a name may hold colons. */
const FIELD = /^(.*?)(?::([A-Za-z_]\w*(?:\[\])?)(?:\(([^)]*)\))?(?:\{([^}]*)\})?)?$/s;

function wrong(text: string, why: string): Error {
  return sqlError("22P04", `the field "${text}" of the header ${why}`, { line: 1, column: text });
}

/** `{id-type: int}`: of ids there is one option, and no other field has any. */
function idTypeOf(options: string | undefined, role: Role, usual: string, text: string): BulkType {
  let name = usual;
  for (const option of (options ?? "").split(",")) {
    const [key = "", value = ""] = option.split(":").map((part) => part.trim());
    if (key === "") continue;
    if (role !== "id" || key !== "id-type") throw wrong(text, `has the option "${key}", which is not known`);
    name = value;
  }
  const type = bulkTypeOf(name);
  if (type === null || type.isList) throw wrong(text, `has the type "${name}", which is not known`);
  return type;
}

/** Of one field. */
const FIELD_CHARACTERS_MAX = 1024;

function fieldOf(text: string, kind: GraphFileKind, idType: string): BulkField {
  if (text.length > FIELD_CHARACTERS_MAX) {
    throw wrong(`${text.slice(0, 100)}…`, `is longer than ${FIELD_CHARACTERS_MAX} characters`);
  }
  const [, name = "", typeName = "string", space = "", options] = FIELD.exec(text) ?? [];
  const special = ROLES[typeName.toUpperCase()];
  if (special === undefined) {
    if (options !== undefined) throw wrong(text, "has options, which only ids have");
    if (name === "") throw wrong(text, "names no property");
    const type = bulkTypeOf(typeName);
    if (type === null) throw wrong(text, `has the type "${typeName}", which is not known`);
    return { role: "property", property: name, space, type, text };
  }
  if (special.of !== null && special.of !== kind) throw wrong(text, `belongs into a file of ${special.of}`);
  const type = idTypeOf(options, special.role, special.role === "id" ? idType : "string", text);
  const isProperty = special.role === "id" && name !== "";
  return { role: special.role, property: isProperty ? name : null, space, type, text };
}

const ONCE: readonly Role[] = ["id", "start", "end", "type"];

/** Throws 22P04 with what is wrong. `hasType`: the file's relationships have a type already. */
export function bulkHeader(
  texts: readonly string[],
  kind: GraphFileKind,
  idType: string,
  hasType: boolean,
): readonly BulkField[] {
  const fields = texts.map((text) => fieldOf(text.trim(), kind, idType));
  for (const role of ONCE) {
    const [, second] = fields.filter((field) => field.role === role);
    if (second !== undefined) throw wrong(second.text, "comes a second time");
  }
  const names = new Set<string>();
  for (const { property, text } of fields) {
    if (property === null) continue;
    if (names.has(property)) throw wrong(text, `names the property "${property}" a second time`);
    names.add(property);
  }
  if (kind === "nodes") return fields;
  const needed = [["start", ":START_ID"] as const, ["end", ":END_ID"] as const];
  for (const [role, name] of hasType ? needed : [...needed, ["type", ":TYPE"] as const]) {
    if (fields.some((field) => field.role === role)) continue;
    const hint = role === "type" ? { hint: 'Or name the part "relationships:TYPE".' } : {};
    throw sqlError("22P04", `the header of a file of relationships has no field ${name}`, { line: 1, ...hint });
  }
  return fields;
}
