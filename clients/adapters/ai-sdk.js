/** The AI SDK's provider, over the interface that speaks as OpenAI's. */
import { createOpenAI } from "@ai-sdk/openai";

/**
 * `url`: of the server. `apiKey`: a key of Tessera. Models are the server's: `tessera("collection:handbook")` answers from a
 * collection, `tessera("agent:support")` is an agent, `tessera.embedding("default")` embeds.
 */
export function createTessera({ url, apiKey, ...rest }) {
  return createOpenAI({ name: "tessera", ...rest, baseURL: `${url.replace(/\/$/, "")}/v1`, apiKey });
}
