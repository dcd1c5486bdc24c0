/**
 * /v1/branches: forks of a tenant, and POST /v1/history/undo. Requests say by a header which branch they are about.
 */
import type { Handlers } from "../../actor/handler.js";
import { pageOf } from "../../bodies/paging.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { answerDiff, betweenMoments, sinceFork, withOther } from "./branch-diff.js";
import { endBranch } from "./branch-life.js";
import { mergeBranch } from "./branch-merge.js";
import { branchNumber, changeBranch, createBranch, layersOf, otherNumber, rootOf, shownBranch } from "./make-branch.js";
import { undo } from "./undo.js";

export const branchHandlers = {
  "history.undo": (request, { body }) => undo(request, body),
  "branches.create": (request, { body }) => createBranch(request, body),
  "branches.list": (request, { query }) => {
    const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
    const layers = layersOf(request);
    const all = layers.branchesUnder(rootOf(request)).map(([number]) => shownBranch(layers, number));
    all.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { plain: { branches: all.slice(offset, offset + limit), total: all.length } };
  },
  "branches.get": async (request, { params }) => {
    const layers = layersOf(request);
    // A merge that has been answered is shown, and what is shown is not lost by a crash.
    request.tenant.sawEverything();
    await engineHasAll(request.partition.shard, request.yieldTurn);
    return { plain: shownBranch(layers, branchNumber(request, params.name)) };
  },
  "branches.change": (request, { params, body }) => changeBranch(request, branchNumber(request, params.name), body),
  "branches.delete": async (request, { params }) => {
    endBranch(request.partition, branchNumber(request, params.name));
    await request.durable();
    return { plain: null };
  },
  "branches.diff": (request, { params, query: { against, ...query } }) => {
    const number = branchNumber(request, params.name);
    if (against === undefined) return answerDiff(request, sinceFork(request, number), query);
    return answerDiff(request, withOther(request, number, otherNumber(request, against)), query);
  },
  "history.diff": async (request, { query: { from, to, ...query } }) =>
    answerDiff(request, await betweenMoments(request, from, to), query),
  "branches.merge": (request, { params, body }) => mergeBranch(request, branchNumber(request, params.name), body ?? {}),
} satisfies Handlers;
