/** DECLARE, FETCH, MOVE and CLOSE of the grammar, as our syntax tree. Called by from-pg.ts. */
import type { DeclareCursorStmt, FetchStmt, Node } from "@pgsql/types";
import type { CursorStatement, DeclareCursorStatement, FetchStatement } from "./ast-cursor.js";
import { type Conversion, notSupported, only, tagOf } from "./conversion.js";

/** Bits of `options` (src/include/nodes/parsenodes.h). */
const OPTIONS = { binary: 0x1, scroll: 0x2, noScroll: 0x4, hold: 0x20 } as const;

/** What the grammar gives for ALL. */
const ALL = 0x7fffffff;

/** Null: another statement. */
export function convertCursor(node: Node, c: Conversion, position: number): CursorStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "DeclareCursorStmt":
      return declare(only(node, tag), c, position);
    case "FetchStmt":
      return fetch(only(node, tag), position);
    case "ClosePortalStmt":
      return { kind: "close cursor", name: only(node, tag).portalname ?? null, position };
    default:
      return null;
  }
}

function declare(node: DeclareCursorStmt, c: Conversion, position: number): DeclareCursorStatement {
  const has = (bit: number) => ((node.options ?? 0) & bit) !== 0;
  const query = only(node.query, "SelectStmt");
  if (query.intoClause !== undefined) throw notSupported("INTO in DECLARE CURSOR", position);
  return {
    kind: "declare cursor",
    name: node.portalname ?? "",
    binary: has(OPTIONS.binary),
    scroll: has(OPTIONS.scroll) ? true : has(OPTIONS.noScroll) ? false : null,
    hold: has(OPTIONS.hold),
    query: c.query(query),
    position,
  };
}

const DIRECTIONS: Readonly<Record<string, FetchStatement["direction"]>> = {
  FETCH_FORWARD: "forward",
  FETCH_BACKWARD: "backward",
  FETCH_ABSOLUTE: "absolute",
  FETCH_RELATIVE: "relative",
};

function fetch(node: FetchStmt, position: number): FetchStatement {
  const count = Number(node.howMany ?? 0);
  return {
    kind: "fetch",
    name: node.portalname ?? "",
    isMove: node.ismove ?? false,
    direction: DIRECTIONS[node.direction ?? "FETCH_FORWARD"]!,
    count: count >= ALL ? Number.POSITIVE_INFINITY : count,
    position,
  };
}
