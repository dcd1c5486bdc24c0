/** Fields that chat completions and responses of OpenAI's interface share. */
import Type from "typebox";
import { OPENAI_TOOLS_MAX } from "../limits.js";
import { AnyObject, Nullable, Strict, UNUSED } from "./schemas.js";

/** A field that is taken with any value and left aside. `why`: a sentence. */
export const Unneeded = (why: string) =>
  Type.Optional(Type.Unknown({ description: `Accepted and not used: ${why}`, [UNUSED]: why }));

export const metadata = Nullable(Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 })));

/** What both take alike. */
export const sampling = {
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  stream: Type.Optional(Type.Boolean()),
  parallel_tool_calls: Type.Optional(Type.Boolean()),
  user: Unneeded("the credential says who asks."),
  safety_identifier: Unneeded("the credential says who asks."),
  service_tier: Unneeded("there are no tiers."),
  prompt_cache_key: Unneeded("prompts are not cached."),
  prompt_cache_options: Unneeded("prompts are not cached."),
  prompt_cache_retention: Unneeded("prompts are not cached."),
  top_logprobs: Unneeded("there are no log probabilities."),
};

const ToolName = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const description = Type.Optional(Nullable(Type.String()));
const parameters = Type.Optional(Nullable(AnyObject));
const strict = Type.Optional(Nullable(Type.Boolean()));
const Modes = Type.Enum(["none", "auto", "required"]);

export const completionTools = {
  tools: Type.Optional(
    Type.Array(
      Strict({ type: Type.Literal("function"), function: Strict({ name: ToolName, description, parameters, strict }) }),
      { maxItems: OPENAI_TOOLS_MAX },
    ),
  ),
  tool_choice: Type.Optional(
    Type.Union([Modes, Strict({ type: Type.Literal("function"), function: Strict({ name: ToolName }) })]),
  ),
};

export const responseTools = {
  tools: Type.Optional(
    Type.Array(Strict({ type: Type.Literal("function"), name: ToolName, description, parameters, strict }), {
      maxItems: OPENAI_TOOLS_MAX,
      description: "Functions of the client. Hosted tools, such as web_search, are not there.",
    }),
  ),
  tool_choice: Type.Optional(Type.Union([Modes, Strict({ type: Type.Literal("function"), name: ToolName })])),
};

export const ImageDetail = Type.Optional(Type.String({ description: "Not used." }));

/** What the JSON of an answer shall be like. */
export const FormatSchema = Strict({
  name: ToolName,
  schema: Type.Optional(AnyObject),
  description: Type.Optional(Type.String()),
  strict,
});
