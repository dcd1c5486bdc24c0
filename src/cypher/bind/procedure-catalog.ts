/**
 * The facts that CALL needs about procedures before it runs one. The executor's registry of procedures implements the
 * catalog.
 */
import type { StaticType } from "./static-type.js";

export interface ProcedureField {
  readonly name: string;
  readonly type: StaticType;
  /** Given where YIELD names it, or all. */
  readonly onDemand?: boolean;
}

export interface ProcedureInput extends ProcedureField {
  /** It may be left out, and so may those after it. */
  readonly optional: boolean;
}

export interface ProcedureSignature {
  /** With its namespaces: `db.labels`. */
  readonly name: string;
  readonly inputs: readonly ProcedureInput[];
  /** None: the procedure gives each row back once, as it came. */
  readonly outputs: readonly ProcedureField[];
}

/** `db.labels() :: (label :: STRING)`, as openCypher writes it. */
export function signatureText({ name, inputs, outputs }: ProcedureSignature): string {
  const fields = (list: readonly (ProcedureField & { readonly optional?: boolean })[]) =>
    list.map((field) => `${field.name} :: ${typeText(field.type)}${field.optional === true ? "?" : ""}`).join(", ");
  // As Neo4j writes it: its Browser reads what a procedure gives out of this text.
  return `${name}(${fields(inputs)}) :: ${outputs.length === 0 ? "VOID" : `(${fields(outputs)})`}`;
}

function typeText(type: StaticType): string {
  return type.kind === "list" ? `LIST<${typeText(type.item)}>` : type.kind.toUpperCase();
}

export interface ProcedureCatalog {
  /** By name, without case; null: there is none. */
  procedure(name: string): ProcedureSignature | null;
  /** Of all, for hints. */
  names(): readonly string[];
}
