/** The installation's models for one statement: LIST_MODELS, PULL_MODEL and DELETE_MODEL. */
import { requireLibraryAdmin } from "../../ai/library/library-admin.js";
import type { LibraryClient } from "../../ai/library/library-client.js";
import type { ModelFacts } from "../../ai/models.js";
import { DbError } from "../../protocol/errors.js";
import type { ModelLibrary } from "../../query/expr/functions/models.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { Json, type Value } from "../../values/values.js";

export function statementLibrary({ tenant, managesModels }: AskingStatement): ModelLibrary {
  const { models } = tenant.partition;
  const library = (): LibraryClient => {
    requireLibraryAdmin(managesModels);
    if (models.library === null) throw new DbError("not_supported", "Models cannot be pulled or deleted here.");
    return models.library;
  };
  return {
    rows: () => models.list().map(modelRow),
    pull: async (model, { signal }) => {
      const { name, bytesTotal, source, restartRequired } = await library().pull(model, { signal });
      return new Json({ model: name, size_bytes: bytesTotal, source, restart_required: restartRequired });
    },
    delete: async (model) => {
      await library().delete(model);
      return true;
    },
  };
}

/** As LIST_MODELS() shows it (query/expr/functions/models.ts). */
function modelRow(model: ModelFacts): readonly Value[] {
  const { name, runtime, bytes, digest, lastUsedMs, alias, kind, dimensions, tokensMax } = model;
  const used = lastUsedMs === null ? null : lastUsedMs * 1000;
  const { revision, licence, state, problem, pulled, restartRequired } = model;
  return [
    name,
    runtime,
    bytes,
    digest,
    pulled === null ? null : pulled.atMs * 1000,
    used,
    alias,
    kind,
    dimensions,
    tokensMax,
    revision,
    licence,
    state,
    problem,
    pulled?.tag ?? null,
    pulled?.source ?? null,
    restartRequired,
  ];
}
