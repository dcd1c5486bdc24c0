/** What every handler is: from a request and its checked input to an answer, at once or later. */

import type { InputOf } from "../bodies/validate.js";
import type { EndpointName, ResponseOf } from "../protocol/endpoints.js";
import type { Answer } from "../session/answer.js";
import type { Request } from "./request.js";

/**
 * Typed by its endpoint's schemas, without one it takes any input. A wrong or missing field of its answer is a compile
 * error, unless it answers with finished JSON text, which has no type (TextAnswer).
 */
export type Handler<E extends EndpointName = EndpointName> = (
  request: Request,
  input: InputOf<E>,
) => Answer<AnswerOf<E>> | Promise<Answer<AnswerOf<E>>>;

type AnswerOf<E extends EndpointName> = ResponseOf<E> extends undefined ? unknown : ResponseOf<E>;

/** By the names of their endpoints. */
export type Handlers = { readonly [E in EndpointName]?: Handler<E> };

/** The same with none missing. */
export type AllHandlers<E extends EndpointName> = { readonly [N in E]: Handler<N> };
