/**
 * Texts of dates and times in an index's expressions. The rows that an index has must not depend on the session that
 * asks, so CREATE INDEX reads such texts once, in its own session's time zone, and keeps them with a zone.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { foldExpr, isSessionCast } from "../../query/expr/fold.js";
import { isReadByStyle } from "../../query/expr/style-dependence.js";
import { exprEquals, someExpr, walkExpr } from "../../query/expr/walk.js";
import { toText } from "../../values/text-format.js";
import type { ExprNode, StringNode } from "../parse/ast-query.js";

/** The node with fixed texts. `bind` binds it over a row; `what` is for the message. Throws 42P17. */
export function withFixedTimes(
  node: ExprNode,
  bind: (node: ExprNode) => Expr,
  timeZone: string | undefined,
  what: "expression" | "predicate",
): ExprNode {
  const open = foldExpr(bind(node));
  if (!someExpr(open, isSessionCast)) return node;
  const refused = () =>
    sqlError("42P17", `functions in index ${what} must be marked IMMUTABLE`, {
      ...(node.position > 0 && { position: node.position }),
      hint: "Settings of the session decide its value. Write dates as '2024-01-31', times as '2024-01-31 10:00:00+00', and AT TIME ZONE instead of a cast.",
    });
  const texts = new Map<string, string>();
  walkExpr(open, (expr) => {
    if (!isSessionCast(expr)) return;
    const { input, type } = expr;
    const text = input.kind === "const" ? input.value : null;
    const read = typeof text !== "string" || isReadByStyle(text, type) ? expr : foldExpr(expr, timeZone ?? "UTC");
    if (read.kind !== "const" || read.value === null) throw refused();
    texts.set(text as string, toText(type, read.value, "UTC"));
  });
  const fixed = withTexts(node, texts);
  // A text may stand in two places, and be no time in one of them.
  const bound = foldExpr(bind(fixed));
  if (someExpr(bound, isSessionCast) || !exprEquals(bound, foldExpr(open, timeZone ?? "UTC"))) throw refused();
  return fixed;
}

/** The tree with other texts in its literals; nodes of the syntax tree are plain objects and arrays. */
function withTexts(node: ExprNode, texts: ReadonlyMap<string, string>): ExprNode {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    if ("kind" in value && value.kind === "string") return fixedText(value as StringNode, texts);
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, visit(child)]));
  };
  return visit(node) as ExprNode;
}

function fixedText(node: StringNode, texts: ReadonlyMap<string, string>): StringNode {
  return { ...node, value: texts.get(node.value) ?? node.value };
}
