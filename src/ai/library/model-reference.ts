/**
 * How clients name a model that is to be pulled or deleted: `name:tag`. Called by the library and by sources; constant.
 */
import { DbError } from "../../protocol/errors.js";
import { KNOWN_MODELS, modelOfRepository } from "./known-models.js";

export interface ModelReference {
  readonly name: string;
  readonly tag: string;
}

/** The tag that is meant when none is given. */
export const LATEST = "latest";

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Upper case in the name is made lower case. A name may be that of a hub's repository, `org/name`, which a known model
 * is made of. Throws `invalid_request`, and `model_not_found` for another repository.
 */
export function parseModelReference(text: string): ModelReference {
  const colon = text.indexOf(":");
  const given = colon < 0 ? text : text.slice(0, colon);
  const name = REPOSITORY.test(given) ? ofRepository(given) : given.toLowerCase();
  const tag = colon < 0 ? LATEST : text.slice(colon + 1);
  if (NAME.test(name) && TAG.test(tag)) return { name, tag };
  throw new DbError(
    "invalid_request",
    `${JSON.stringify(text.slice(0, 200))} is not a model name. Use name, name:tag or org/name:tag. Each part has at most 100 letters, digits, dots, dashes and underscores, and begins with a letter or digit.`,
    { field: "model", sqlstate: "22023" },
  );
}

function ofRepository(repository: string): string {
  const name = modelOfRepository(repository);
  if (name !== null) return name;
  const names = KNOWN_MODELS.map((one) => one.name).join(", ");
  throw new DbError("model_not_found", `No model that this server can run is known to come from "${repository}".`, {
    field: "model",
    sqlstate: "42704",
    hint: `Known: ${names}. A folder or server of bundles may offer others.`,
  });
}

export function referenceText({ name, tag }: ModelReference): string {
  return `${name}:${tag}`;
}
