/** A catalog of procedures from signatures as openCypher writes them. */
import type { ProcedureCatalog, ProcedureSignature } from "../../src/cypher/bind/procedure-catalog.js";
import {
  ANY,
  BOOLEAN,
  FLOAT,
  INTEGER,
  MAP,
  NODE,
  NUMBER,
  PATH,
  RELATIONSHIP,
  STRING,
  type StaticType,
} from "../../src/cypher/bind/static-type.js";

const TYPES: Record<string, StaticType> = {
  ANY,
  BOOLEAN,
  FLOAT,
  INTEGER,
  MAP,
  NODE,
  NUMBER,
  PATH,
  RELATIONSHIP,
  STRING,
};

/** Of texts like `my.proc(in :: INTEGER?) :: (out :: STRING?)`. */
export function proceduresOf(signatures: readonly string[]): ProcedureCatalog {
  const procedures = signatures.map(signatureOf);
  return {
    procedure: (name) => procedures.find((found) => found.name === name) ?? null,
    names: () => procedures.map(({ name }) => name),
  };
}

function signatureOf(text: string): ProcedureSignature {
  const [, name = "", inputs = "", outputs = ""] = /^([\w.]+)\((.*?)\) :: (?:VOID|\((.*)\))$/.exec(text) ?? [];
  return { name, inputs: fieldsOf(inputs).map((field) => ({ ...field, optional: false })), outputs: fieldsOf(outputs) };
}

const fieldsOf = (text: string) =>
  [...text.matchAll(/(\w+) :: (\w+)/g)].map(([, name = "", type = ""]) => ({ name, type: TYPES[type] ?? ANY }));
