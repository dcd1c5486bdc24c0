/**
 * Chats over a folder on a server without a provider: sentences of the files answer, with their places, or nothing
 * does.
 */
import t from "tap";
import { ROUTE, ready, TestFolder } from "./filesystem-folder.js";
import { TestServer } from "./server.js";

const FILES: Readonly<Record<string, string>> = {
  "handbook/leave.md": `# Leave

Every employee has 28 days of paid leave a year. Part of it may be carried over until the end of March.

## Sick leave

Tell your manager before nine if you are ill. A doctor's note is needed from the third day on.

## Parental leave

Parents may stay at home for fourteen months and keep their place.`,
  "handbook/office.md": `# The office

The office opens at 7:30 and closes at 20:00. On Sundays it stays shut.

Visitors sign in at the reception and wear a badge. The wireless network for guests is called Heron.

The meeting rooms are on the second floor; the biggest one seats forty people.`,
  "pump/manual.txt": `Pump P-200. Safety: cut the power before you open the housing.

Maintenance: the filter must be cleaned every six weeks. The seal is replaced after 4,000 hours of operation.

If the pump makes a grinding noise, the bearing is worn and has to be replaced by a technician.

The maximum pressure is 12 bar. It is delivered with a cable of three metres.`,
  "faq.md": `# Questions

**How long are backups kept?** Thirty days.

**Which browsers are supported?** Firefox and Chrome, each in its two latest versions.`,
  "staff.txt": `The store manager is Helga Brandt. She joined in 2014 after ten years at a competitor.

The shop in Hamburg has eleven clerks; the one in Kiel has four.`,
  "coffee.html": `<html><head><title>CX-9 espresso maker</title></head><body><h1>CX-9 espresso maker</h1>
<p>The water tank holds 2.3 litres. Descale the machine after 200 cups with citric acid.</p>
<p>The warranty lasts 36 months from the date of purchase.</p></body></html>`,
  "history.txt": `The company was founded by Ida Brandt in Bergen in 1974. It first built boats.

In 1991 the founder sold it to the Olsen family. Since 2010 it has made pumps only.

What does the name mean? It is the old word for a heron.`,
};

const QUESTIONS: readonly (readonly [question: string, answer: RegExp, file: string])[] = [
  ["How many days of paid leave does an employee have?", /28 days/, "handbook/leave.md"],
  ["When do I need a doctor's note?", /third day/, "handbook/leave.md"],
  ["How long may parents stay at home?", /fourteen months/, "handbook/leave.md"],
  ["Until when can leave be carried over?", /March/, "handbook/leave.md"],
  ["When does the office open?", /7:30/, "handbook/office.md"],
  ["What is the wireless network for guests called?", /Heron/, "handbook/office.md"],
  ["How many people does the biggest meeting room seat?", /forty/, "handbook/office.md"],
  ["Where do visitors sign in?", /reception/, "handbook/office.md"],
  ["How often must the filter be cleaned?", /six weeks/, "pump/manual.txt"],
  ["What is the maximum pressure of the pump?", /12 bar/, "pump/manual.txt"],
  ["What does a grinding noise mean?", /bearing is worn/, "pump/manual.txt"],
  ["When is the seal replaced?", /4,000 hours/, "pump/manual.txt"],
  ["Who founded the company?", /Ida Brandt/, "history.txt"],
  ["To whom did the founder sell the company?", /Olsen/, "history.txt"],
  ["How long are backups kept?", /^Thirty days/, "faq.md"],
  ["Which browsers are supported?", /^Firefox/, "faq.md"],
  ["How long is the warranty of the espresso maker?", /36 months/, "coffee.html"],
  ["How often should I descale my machine?", /200 cups/, "coffee.html"],
  ["How big is its water tank?", /2\.3 litres/, "coffee.html"],
  ["When did Helga Brandt join?", /^She joined in 2014/, "staff.txt"],
  ["How many clerks does the Kiel shop have?", /four/, "staff.txt"],
  ["What does the name mean?", /old word for a heron/, "history.txt"],
];

const UNRELATED = [
  "What is the capital of Peru?",
  "Who wrote Hamlet?",
  "How do I bake bread?",
  "What is the salary of the managing director?",
  "Which phone number does the help desk have?",
  "When was the last fire drill?",
  "How tall is the Eiffel tower?",
  "How much does coffee cost?",
  "Is Safari supported?",
  "Hello!",
  "How many clerks does the Munich shop have?",
  "What is 2+2?",
  "What happened in 1987?",
];

t.test("a folder answers", async (t) => {
  const folder = new TestFolder();
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: folder.root });
  t.teardown(async () => {
    await server.stop();
    folder.end();
  });
  for (const [path, text] of Object.entries(FILES)) folder.put(path, text);
  const made = await server.expect(201, "POST", ROUTE, { name: "docs", watch_dir: folder.root, embed_text: true });
  await ready(server, made.body.data.id);
  const { session_id } = (await server.expect(201, "POST", "/v1/ai/sessions", { collections: ["docs"] })).body;
  const ask = async (content: string) =>
    (await server.expect(200, "POST", "/v1/ai/chat", { session_id, content })).body.data;
  let right = 0;
  for (const [question, answer, file] of QUESTIONS) {
    const { content, citations, provider, model } = await ask(question);
    t.match({ provider, model }, { provider: "native", model: "best-sentence" });
    const cited = citations.find((citation: { cited: boolean }) => citation.cited);
    if (answer.test(content) && cited?.file === file) right++;
    else t.comment(`${question} → ${content}`);
    if (cited === undefined) continue;
    const quote = cited.text.slice(cited.start, cited.end).replaceAll(/\s+/g, " ");
    t.equal(
      content,
      `${quote} [${cited.number}]\n\n[${cited.number}] ${cited.file}`,
      "a sentence of a file, and where it is",
    );
    t.ok(FILES[cited.file]!.replaceAll(/\s+/g, " ").includes(quote));
  }
  t.comment(`${right} of ${QUESTIONS.length}`);
  t.ok(right >= 20, `${right} of ${QUESTIONS.length} answers are right`);
  for (const question of UNRELATED) {
    const { content, citations = [] } = await ask(question);
    t.equal(content, "The documents do not contain an answer.", question);
    t.notOk(citations.some(({ cited }: { cited: boolean }) => cited));
  }
  const { messages } = (await server.expect(200, "GET", `/v1/ai/sessions/${session_id}/messages`)).body.data;
  t.match(messages[1].citations[0], { file: "handbook/leave.md", title: "Leave", cited: true });
  const streamed = await fetch(`${server.url}/v1/ai/chat/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ session_id, content: QUESTIONS[0]![0] }),
  });
  t.match(await streamed.text(), /^data: \{"type":"delta","delta":"[^"]*28 days/);
  const found = await server.expect(200, "POST", "/v1/mcp", {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "rag_search", arguments: { collection: "docs", query: "maximum pressure", k: 1 } },
  });
  const { passages, context } = JSON.parse(found.body.result.content[0].text);
  t.match(passages[0], { file: "pump/manual.txt", text: /^Pump P-200/ });
  t.match(context, /^\[1\] \(pump\/manual\.txt\) Pump P-200/);
});
