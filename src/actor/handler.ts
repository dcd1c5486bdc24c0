/** What every handler is: from a request and its checked input to an answer, at once or later. */
import type { EndpointName } from "../protocol/endpoints.js";
import type { Answer } from "../session/answer.js";
import type { Request } from "./request.js";
import type { InputOf } from "./validate.js";

/** Typed by its endpoint's schemas; without one it takes any input. */
export type Handler<E extends EndpointName = EndpointName> = (
  request: Request,
  input: InputOf<E>,
) => Answer | Promise<Answer>;

/** By the names of their endpoints. */
export type Handlers = { readonly [E in EndpointName]?: Handler<E> };

/** The same with none missing. */
export type AllHandlers<E extends EndpointName> = { readonly [N in E]: Handler<N> };
