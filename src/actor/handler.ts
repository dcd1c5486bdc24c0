/** What every handler is: from a request and its checked input to an answer, at once or later. */

import type { UntypedAnswer } from "../bodies/untyped-answers.js";
import type { InputOf } from "../bodies/validate.js";
import type { EndpointName, ResponseOf } from "../protocol/endpoints.js";
import type { Answer } from "../session/answer.js";
import type { Request } from "./request.js";

/**
 * Typed by its endpoint's schemas; without one it takes any input. The answer is typed unless UntypedAnswer names it.
 */
export type Handler<E extends EndpointName = EndpointName> = (
  request: Request,
  input: InputOf<E>,
) => Answer<AnswerOf<E>> | Promise<Answer<AnswerOf<E>>>;

type AnswerOf<E extends EndpointName> = E extends UntypedAnswer
  ? unknown
  : ResponseOf<E> extends undefined
    ? unknown
    : DeepReadonly<ResponseOf<E>>;

type DeepReadonly<T> = T extends (infer I)[]
  ? readonly DeepReadonly<I>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** By the names of their endpoints. */
export type Handlers = { readonly [E in EndpointName]?: Handler<E> };

/** The same with none missing. */
export type AllHandlers<E extends EndpointName> = { readonly [N in E]: Handler<N> };
