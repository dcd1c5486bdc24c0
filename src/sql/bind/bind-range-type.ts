/** CREATE TYPE … AS RANGE: its options, as what the catalog keeps of them. Called by bind-type-definition.ts. */
import type { CreateTypeCommand } from "../../catalog/namespace-command.js";
import { sqlError } from "../../protocol/errors.js";
import { baseType, displayName, pgOidOf } from "../../query/expr/types.js";
import { isSubtype, possibleSubtypes } from "../../values/range.js";
import type { SqlType } from "../../values/values.js";
import type { RangeOption } from "../parse/ast-definitions.js";
import type { TypeNode } from "../parse/ast-query.js";
import { bindType } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { newName, type QualifiedName } from "./names.js";
import { functionFactsByName } from "./system/builtin-facts.js";
import { defaultClassName } from "./system/builtin-operators.js";

const OPTIONS = [
  "subtype",
  "subtype_opclass",
  "collation",
  "canonical",
  "subtype_diff",
  "multirange_type_name",
] as const;

type Option = (typeof OPTIONS)[number];
type RangeShape = Extract<CreateTypeCommand["shape"], { kind: "range" }>;

/** Throws 42601 for wrong options, 0A000 for what is not supported, 42704 and 42883 for what does not exist. */
export function bindRangeShape(
  name: QualifiedName,
  options: readonly RangeOption[],
  binding: Binding,
  position: number,
): RangeShape {
  const given = optionsByName(options, position);
  const node = given.get("subtype");
  if (node === undefined) throw sqlError("42601", 'type attribute "subtype" is required', { position });
  if (given.has("canonical")) {
    throw sqlError("0A000", "CREATE TYPE … AS RANGE with a canonical function is not supported", {
      position,
      hint: "Leave canonical away, or use int4range, int8range or daterange, which have canonical forms.",
    });
  }
  const subtype = checkedSubtype(bindType(node, binding), position);
  checkClass(given.get("subtype_opclass"), subtype, position);
  const collation = given.get("collation")?.name;
  if (collation !== undefined) checkCollation(collation, subtype, position);
  const diff = given.get("subtype_diff");
  if (diff !== undefined) checkDifference(diff.name, subtype, binding, position);
  return {
    kind: "range",
    subtype,
    multirange: multirangeName(name, given.get("multirange_type_name"), binding),
    ...(collation !== undefined && { collation }),
    ...(diff !== undefined && { subtypeDiff: diff.name }),
  };
}

function optionsByName(options: readonly RangeOption[], position: number): Map<Option, TypeNode> {
  const given = new Map<Option, TypeNode>();
  for (const { name, value } of options) {
    if (!(OPTIONS as readonly string[]).includes(name)) {
      throw sqlError("42601", `type attribute "${name}" not recognized`, { position });
    }
    if (given.has(name as Option)) throw sqlError("42601", "conflicting or redundant options", { position });
    if (value === null) throw sqlError("42601", `${name} requires a name`, { position });
    given.set(name as Option, value);
  }
  return given;
}

function checkedSubtype(type: SqlType, position: number): SqlType {
  const base = baseType(type);
  if (type.user === undefined && type.fields === undefined && isSubtype(base)) return base;
  throw sqlError("0A000", `ranges of ${displayName(type)} are not supported`, {
    position,
    hint: `A range can be made of ${possibleSubtypes().join(", ")}.`,
  });
}

/** Values have one order here, that of the type's default class. */
function checkClass(node: TypeNode | undefined, subtype: SqlType, position: number): void {
  if (node === undefined || node.name === defaultClassName(pgOidOf(subtype))) return;
  throw sqlError("0A000", `subtype_opclass "${node.name}" is not supported for ${displayName(subtype)}`, {
    position,
    hint: `Leave it away, or use ${defaultClassName(pgOidOf(subtype))}.`,
  });
}

/** Text is compared by code point everywhere, which is the collation "C". */
function checkCollation(name: string, subtype: SqlType, position: number): void {
  if (subtype.name !== "text" && subtype.name !== "varchar") {
    throw sqlError("42809", "range collation specified but subtype does not support collation", { position });
  }
  if (["C", "POSIX", "default", "ucs_basic"].includes(name)) return;
  throw sqlError("42704", `collation "${name}" for encoding "UTF8" does not exist`, { position });
}

/** Only PostgreSQL's GiST indexes call it; here it need only exist. */
function checkDifference(name: string, subtype: SqlType, { env }: Binding, position: number): void {
  const oid = pgOidOf(subtype);
  const isBuiltIn = functionFactsByName()
    .get(name)
    ?.some(({ args, result }) => result === FLOAT8_OID && args.length === 2 && args.every((arg) => arg === oid));
  if (isBuiltIn === true || env.catalog.functions().some((fn) => fn.name === name)) return;
  const type = displayName(subtype);
  throw sqlError("42883", `function ${name}(${type}, ${type}) does not exist`, { position });
}

const FLOAT8_OID = 701;

/** As given, or `floatmultirange` for `floatrange` and `span_multirange` for `span`. */
function multirangeName(range: QualifiedName, node: TypeNode | undefined, binding: Binding): QualifiedName {
  if (node !== undefined) {
    const path = node.schema === null ? [node.name] : [node.schema, node.name];
    return newName({ path, position: node.position }, binding.env);
  }
  const { name } = range;
  const made = name.includes("range") ? name.replace("range", "multirange") : `${name}_multirange`;
  return { ...range, name: made };
}
