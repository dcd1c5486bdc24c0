/** OpenAI's package: the collection is a model. */
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: `${process.env.TESSERA_URL}/v1`, apiKey: process.env.TESSERA_KEY });
const messages = [{ role: "user", content: "When does the bakery open?" }];
const answer = await client.chat.completions.create({ model: "collection:trips", messages });
assert.match(answer.choices[0].message.content, /opens at six/);
let text = "";
for await (const chunk of await client.chat.completions.create({ model: "collection:trips", messages, stream: true })) {
  text += chunk.choices[0]?.delta.content ?? "";
}
assert.match(text, /opens at six/);
const { data } = await client.embeddings.create({ model: "default", input: ["a boat", "a walk"] });
assert.equal(data[1].embedding.length, 384);
