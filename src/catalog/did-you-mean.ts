/** Hints for misspelt names. Called where names are looked up. */
import { type DbError, sqlError } from "../protocol/errors.js";
import { nearestName } from "../protocol/nearest-name.js";
import { quotedIdentifier } from "./relation-names.js";

/** `Did you mean "x"?` as the hint of an error, when one of the known names is close. */
export function meant(unknown: string, known: Iterable<string>): { readonly hint?: string } {
  const name = nearestName(unknown, known);
  return name === null ? {} : { hint: `Did you mean ${quotedIdentifier(name)}?` };
}

/** 42703 for a column of a known table, with the one that may have been meant. */
export function missingColumn(
  name: string,
  table: { readonly name: string; readonly columns: readonly { readonly name: string }[] },
  position: number | null,
  spelled = `column "${name}" of relation "${table.name}"`,
): DbError {
  const names = table.columns.map((column) => column.name);
  return sqlError("42703", `${spelled} does not exist`, {
    ...(position !== null && { position }),
    ...meant(name, names),
  });
}
