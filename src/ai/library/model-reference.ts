/** How clients name a model that is to be pulled or deleted: `name:tag`. Called by the library and by sources; constant. */
import { DbError } from "../../protocol/errors.js";

export interface ModelReference {
  readonly name: string;
  readonly tag: string;
}

/** The tag that is meant when none is given. */
export const LATEST = "latest";

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

/** Upper case in the name is made lower case. Throws `invalid_request`. */
export function parseModelReference(text: string): ModelReference {
  const colon = text.indexOf(":");
  const name = (colon < 0 ? text : text.slice(0, colon)).toLowerCase();
  const tag = colon < 0 ? LATEST : text.slice(colon + 1);
  if (NAME.test(name) && TAG.test(tag)) return { name, tag };
  throw new DbError(
    "invalid_request",
    `${JSON.stringify(text.slice(0, 200))} does not name a model: give name or name:tag, each at most 100 letters, digits, dots, dashes and underscores that begin with a letter or digit.`,
    { field: "model", sqlstate: "22023" },
  );
}

export function referenceText({ name, tag }: ModelReference): string {
  return `${name}:${tag}`;
}
