/** The AI SDK. */
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";

const tessera = createOpenAI({ baseURL: `${process.env.TESSERA_URL}/v1`, apiKey: process.env.TESSERA_KEY });
const asked = { model: tessera("collection:trips"), prompt: "When does the bakery open?" };
assert.match((await generateText(asked)).text, /opens at six/);
assert.match(await streamText(asked).text, /opens at six/);
