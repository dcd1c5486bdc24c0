/** Converts SET and RESET, and the modes of transactions, from the grammar's JSON to our syntax tree. */
import type { DefElem, Node, VariableSetStmt } from "@pgsql/types";
import type { IsolationLevel, SetStatement } from "./ast.js";
import { notSupported, only, tagOf } from "./conversion.js";

interface TransactionModes {
  readonly isolation: IsolationLevel | null;
  readonly readOnly: boolean | null;
  readonly deferrable: boolean | null;
}

export function transactionModes(options: readonly Node[] | undefined): TransactionModes {
  const modes = new Map<string, DefElem>();
  for (const option of options ?? []) {
    const element = only(option, "DefElem");
    modes.set(element.defname ?? "", element);
  }
  const flag = (name: string) => {
    const element = modes.get(name);
    return element === undefined ? null : (only(element.arg, "A_Const").ival?.ival ?? 0) === 1;
  };
  const isolation = modes.get("transaction_isolation");
  return {
    isolation: isolation === undefined ? null : (only(isolation.arg, "A_Const").sval?.sval as IsolationLevel),
    readOnly: flag("transaction_read_only"),
    deferrable: flag("transaction_deferrable"),
  };
}

export function setVariable(node: VariableSetStmt, position: number): SetStatement {
  const plain = { kind: "set", name: node.name ?? "", local: node.is_local ?? false, position } as const;
  switch (node.kind) {
    case "VAR_SET_VALUE":
      return { ...plain, values: (node.args ?? []).map((arg) => settingValue(arg, position)), transaction: null };
    case "VAR_SET_MULTI":
      if (node.name !== "TRANSACTION" && node.name !== "SESSION CHARACTERISTICS") {
        throw notSupported(`SET ${node.name}`, position);
      }
      return { ...plain, name: node.name.toLowerCase(), values: [], transaction: transactionModes(node.args) };
    case "VAR_SET_CURRENT":
      throw notSupported("SET … FROM CURRENT", position);
    case "VAR_RESET_ALL":
      return { ...plain, name: "all", values: null, resets: true, transaction: null };
    case "VAR_RESET":
      return { ...plain, values: null, resets: true, transaction: null };
    default:
      return { ...plain, values: null, transaction: null };
  }
}

/** SET TIME ZONE INTERVAL '+05:30' HOUR TO MINUTE: a zone that is so far east of UTC all year, in hours. */
function zoneOfOffset(text: string, position: number): string {
  const match = /^([+-]?)(\d{1,2})(?::([0-5]\d))?(?::00)?$/.exec(text);
  if (match === null) throw notSupported(`a time zone of INTERVAL '${text}'`, position);
  const hours = Number(match[2]) + Number(match[3] ?? 0) / 60;
  return (match[1] === "-" ? -hours : hours).toFixed(9);
}

function settingValue(node: Node, position: number): string | number | boolean {
  if (tagOf(node) === "TypeCast")
    return zoneOfOffset(only(only(node, "TypeCast").arg, "A_Const").sval?.sval ?? "", position);
  if (tagOf(node) !== "A_Const") throw notSupported("SET with a typed value", position);
  const value = only(node, "A_Const");
  if (value.ival !== undefined) return value.ival.ival ?? 0;
  if (value.fval !== undefined) return Number(value.fval.fval);
  if (value.boolval !== undefined) return value.boolval.boolval ?? false;
  return value.sval?.sval ?? "";
}
