/** OpenAI's SDK for agents, over responses and over chat completions. */
import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { equal, step } from "./steps.mjs";

setTracingDisabled(true);
const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
});

for (const api of ["responses", "chat_completions"]) {
  setOpenAIAPI(api);
  await step(`${api}: an agent`, async () => {
    const agent = new Agent({ name: "Guide", instructions: "Be kind.", model: "scripted" });
    equal((await run(agent, "Hi")).finalOutput, "Hello there.");
  });
  await step(`${api}: an agent with a tool`, async () => {
    const agent = new Agent({ name: "Guide", instructions: "Be kind.", model: "scripted", tools: [weather] });
    equal((await run(agent, "The weather in Kiel?")).finalOutput, "It rains in Kiel.");
  });
  await step(`${api}: a stream`, async () => {
    const agent = new Agent({ name: "Guide", instructions: "Be kind.", model: "collection:handbook" });
    const stream = await run(agent, "When does the ferry leave?", { stream: true });
    let text = "";
    for await (const piece of stream.toTextStream()) text += piece;
    equal(text, "Hello there.");
  });
}
await step("responses: a conversation goes on by its last response", async () => {
  setOpenAIAPI("responses");
  const agent = new Agent({ name: "Guide", model: "scripted" });
  const first = await run(agent, "Hi");
  const second = await run(agent, "And now?", { previousResponseId: first.lastResponseId });
  equal(second.finalOutput, "Hello there.");
});
