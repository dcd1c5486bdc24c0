/**
 * The models that a tenant has trained as rows of SHOW MODELS, as a statement's services know them: made by sql-functions.ts,
 * which the actor registers, since reading them takes statements of its own.
 */
import type { Value } from "../../values/values.js";

type Rows = readonly (readonly Value[])[];

let read: ((request: object) => Promise<Rows>) | null = null;

/** Once, when the process starts. */
export function provideTrainedModels(reader: (request: object) => Promise<Rows>): void {
  read = reader;
}

/** None where no request runs the statement. */
export function trainedModelRows(request: object | null): Promise<Rows> {
  return read === null || request === null ? Promise.resolve([]) : read(request);
}
