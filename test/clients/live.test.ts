/** Subscriptions of the TypeScript client, with a server that is played: what it says decides whether they go on. */
import t from "tap";
import { AuthenticationError, connect } from "../../clients/typescript/src/index.js";

function events(...list: readonly (readonly [type: string, data: object])[]): Response {
  const text = list.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const change = (sequence: number) =>
  ["change", { operation: "insert", collection: "c", document: { n: sequence }, timestamp: "", sequence }] as const;
const again = { type: "error", code: "unauthorized", message: "The credential was changed; connect again." };
const refused = { error: { code: "unauthorized", message: "The API key is not valid." }, meta: {} };

t.test("a server that asks to connect again is asked again; one that refuses the key is not", async (t) => {
  const asked: string[] = [];
  const answers = [
    () => events(["subscribed", { sequence: 5 }], change(6), ["error", again]),
    () => events(["subscribed", { sequence: 6 }], change(6), change(7), ["error", again]),
    () => new Response(JSON.stringify(refused), { status: 401 }),
  ];
  const fetch = ((url: string) => {
    asked.push(new URL(url).searchParams.get("sequence") ?? "");
    return Promise.resolve(answers.shift()!());
  }) as typeof globalThis.fetch;
  const db = connect({ url: "http://played", apiKey: "ak_x", fetch });
  const seen: number[] = [];
  await t.rejects(async () => {
    for await (const { sequence } of db.subscribe({ table: "c" })) seen.push(sequence);
  }, AuthenticationError);
  t.same(seen, [6, 7]);
  t.same(asked, ["", "6", "7"]);
});

t.test("a subscription that is cut off while it catches up is begun again", async (t) => {
  const asked: string[] = [];
  const ends = ["partition_unavailable", "shutting_down", "cancelled", "subscription_interrupted"];
  const answers = ends.map((code, i) => () => events(change(6 + i), ["error", { type: "error", code, message: "" }]));
  const fetch = ((url: string) => {
    asked.push(new URL(url).searchParams.get("sequence") ?? "");
    const refusal = JSON.stringify({ error: { code: "sequence_too_old", message: "Too old." }, meta: {} });
    return Promise.resolve(answers.shift()?.() ?? new Response(refusal, { status: 410 }));
  }) as typeof globalThis.fetch;
  const db = connect({ url: "http://played", apiKey: "ak_x", fetch });
  const seen: number[] = [];
  await t.rejects(
    async () => {
      for await (const { sequence } of db.subscribe({ table: "c", sequence: 5 })) seen.push(sequence);
    },
    { code: "sequence_too_old" },
  );
  t.same(seen, [6, 7, 8, 9]);
  t.same(asked, ["5", "6", "7", "8", "9"]);
});
