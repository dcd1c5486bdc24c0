/** Parts of values: properties, items and slices of lists, and matches of regular expressions. */

import type { DbError } from "../../../protocol/errors.js";
import { cypherError } from "../../../values/cypher-error.js";
import { CypherPoint } from "../../../values/point.js";
import { DELETED_MARK, GraphNode, GraphRelationship, isIntegerValue, type Variant } from "../../../values/variant.js";
import { isList, isTemporal } from "../../../values/variant-format.js";
import { linearRegExp } from "../functions/linear-regexp.js";
import { described } from "./define.js";
import { pointComponent } from "./point-functions.js";
import { temporalComponent } from "./temporal-components.js";

/** `target.name`; null for a property that is not there. */
export function property(target: Variant, name: string): Variant {
  if (target instanceof Map) return target.get(name) ?? null;
  if (target instanceof GraphNode) {
    if (isDeletedNode(target)) throw deletedAccess("node");
    return target.properties.get(name) ?? null;
  }
  if (target instanceof GraphRelationship) {
    if (target.type.startsWith(DELETED_MARK)) throw deletedAccess("relationship");
    return target.properties.get(name) ?? null;
  }
  if (target === null) return null;
  if (isTemporal(target)) return temporalComponent(target, name);
  if (target instanceof CypherPoint) return pointComponent(target, name);
  throw cypherError("TypeError", "InvalidArgumentType", `${described(target)} has no properties`);
}

export function isDeletedNode({ labels }: GraphNode): boolean {
  return labels.length === 1 && labels[0] === DELETED_MARK;
}

export function deletedAccess(what: string): DbError {
  return cypherError("EntityNotFound", "DeletedEntityAccess", `the ${what} has been deleted in this statement`);
}

/** `target[index]`: an item of a list, counted from 0, from the end when negative; a property of a map or an entity. */
export function itemAt(target: Variant, index: Variant): Variant {
  if (isList(target)) {
    if (typeof index === "number" && Number.isInteger(index)) {
      return target[index < 0 ? target.length + index : index] ?? null;
    }
    if (typeof index === "bigint") return null;
    const message = `the index of a list must be an integer, not ${described(index)}`;
    throw cypherError("TypeError", "ListElementAccessByNonInteger", message);
  }
  if (
    target instanceof Map ||
    target instanceof GraphNode ||
    target instanceof GraphRelationship ||
    target instanceof CypherPoint ||
    isTemporal(target)
  ) {
    if (typeof index === "string") return property(target, index);
    const message = `the name of a property must be a string, not ${described(index)}`;
    throw cypherError("TypeError", "MapElementAccessByNonString", message);
  }
  throw cypherError("TypeError", "InvalidArgumentType", `${described(target)} has no items`);
}

/** `list[from..to]`, the item at `to` left out; what lies outside of the list is left out, too. */
export function sliceOf(list: Variant, from: Variant, to: Variant): Variant {
  if (!isList(list)) throw cypherError("TypeError", "InvalidArgumentType", `${described(list)} has no items`);
  return list.slice(boundOf(from), boundOf(to));
}

function boundOf(value: Variant): number {
  if (isIntegerValue(value)) return Number(value);
  const message = `the index of a list must be an integer, not ${described(value)}`;
  throw cypherError("TypeError", "ListElementAccessByNonInteger", message);
}

/** Patterns that were compiled last. */
const PATTERNS_MAX = 256;
const patterns = new Map<string, RegExp>();

/** `text =~ pattern`: whether the whole text matches; the syntax is Java's as far as JavaScript's is the same. */
export function matches(text: Variant, pattern: Variant): boolean | null {
  if (typeof text !== "string" || typeof pattern !== "string") return null;
  let regExp = patterns.get(pattern);
  if (regExp === undefined) {
    regExp = compilePattern(pattern);
    if (patterns.size >= PATTERNS_MAX) patterns.clear();
    patterns.set(pattern, regExp);
  }
  return regExp.test(text);
}

/** Flags of Java that may stand at the beginning and that JavaScript has as well. */
const LEADING_FLAGS = /^\(\?([imsu]+)\)/;

/** Java takes a backslash before any sign that is no letter; JavaScript before those alone that mean something. */
const ESCAPED = /\\(.)/gsu;
const ESCAPABLE = /[\^$\\.*+?()[\]{}|/-]|\w/u;

function unescapedInJava(escaped: string, sign: string): string {
  return ESCAPABLE.test(sign) ? escaped : sign;
}

function compilePattern(pattern: string): RegExp {
  const flags = LEADING_FLAGS.exec(pattern);
  const source = (flags === null ? pattern : pattern.slice(flags[0].length)).replace(ESCAPED, unescapedInJava);
  const wanted = new Set(flags?.[1]);
  wanted.add("u");
  return regExpOf(`^(?:${source})$`, [...wanted].join(""), pattern);
}

/** `pattern`: as it was given. Throws ArgumentError. */
export function regExpOf(source: string, flags: string, pattern = source): RegExp {
  try {
    return linearRegExp(source, flags);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw cypherError("ArgumentError", "InvalidArgumentValue", `the regular expression is not valid: ${pattern}`);
  }
}
