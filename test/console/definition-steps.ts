/** Steps of the console's test about definitions, the library of models, traces of agents, walks and pictures. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { Tools } from "./branch-steps.js";
import { openPage } from "./browser.js";

export async function definitionSteps(tools: Tools): Promise<void> {
  await tableStep(tools);
  await viewStep(tools);
  await formsStep(tools);
  await policyStep(tools);
  await walkStep(tools);
  await lassoStep(tools);
  await traceStep(tools);
  await libraryStep(tools);
}

/** Of the dialog that is open. */
const field = (page: Page, label: string) => page.getByRole("dialog").getByLabel(label, { exact: true });
const button = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

async function tableStep({ step, page, server, violations }: Tools): Promise<void> {
  await step("a table, a column and indexes are made by forms", async (t) => {
    await openPage(page, "#/data");
    await page.locator("td", { hasText: "200 rows, 4 columns" }).waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await field(page, "Name").fill("made");
    await field(page, "Column").nth(1).fill("Odd name");
    await page.keyboard.press("Escape");
    // The focus has gone back to where it was.
    const opener = page.locator("button:focus", { hasText: "Table" });
    await opener.waitFor();
    await page.keyboard.press("Enter");
    await field(page, "Name").fill("made");
    await field(page, "Column").nth(1).fill("Odd name");
    await button(page, "Column").click();
    await field(page, "Column").nth(2).fill("v");
    await field(page, "Type").nth(2).fill("vector(3)");
    t.match(await page.getByRole("dialog").locator("pre").textContent(), '"Odd name" text,\n  v vector(3),');
    t.same(await violations(), [], "of the form of a table");
    await button(page, "Make").click();
    await page.getByText("There are no rows.").waitFor();
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByRole("button", { name: "Column", exact: true }).click();
    await field(page, "Column").fill("owner");
    await button(page, "Add").click();
    await page.locator("td", { hasText: "owner" }).waitFor();
    for (const [kind, column, method] of [
      ["words", "Odd name", "text"],
      ["near", "v", "hnsw"],
    ] as const) {
      await page.getByRole("button", { name: "Index", exact: true }).click();
      await field(page, "What it does").selectOption(kind);
      await button(page, column).click();
      t.same(await violations(), [], "of the form of an index");
      await button(page, "Make").click();
      await page.getByRole("region", { name: "Indexes" }).locator("code", { hasText: method }).waitFor();
    }
    await page.getByRole("button", { name: "Drop Odd name" }).click();
    await button(page, "Drop").click();
    await page.getByText("It is gone.").waitFor();
    await page.getByRole("button", { name: "Drop Odd name" }).waitFor({ state: "detached" });
    const names = "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'made'::regclass";
    t.same(await server.rows(`${names} AND attnum > 0 AND NOT attisdropped`), [["id v owner"]]);
  });
}

async function viewStep({ step, page, server, violations }: Tools): Promise<void> {
  await step("views are shown, refreshed and dropped", async (t) => {
    await server.rows("CREATE VIEW made_view AS SELECT id AS number, name FROM city WHERE id <= 3");
    await server.rows("CREATE MATERIALIZED VIEW made_kept AS SELECT count(*) AS streets FROM street");
    await server.rows("INSERT INTO street VALUES (1, 1)");
    await openPage(page, "#/home");
    await page.getByRole("heading", { name: "Welcome, admin" }).waitFor();
    // As the palette leads to it.
    await openPage(page, "#/data/table/made_view");
    await page.locator(".grid-cell", { hasText: /^city 1$/ }).waitFor();
    t.match(page.url(), "#/data/view/made_view");
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.locator("pre", { hasText: "FROM city" }).waitFor();
    await page.locator("td", { hasText: "number" }).waitFor();
    t.same(await violations(), [], "of a view");
    await openPage(page, "#/data/view/made_kept");
    await page.locator(".grid-cell", { hasText: /^0$/ }).waitFor();
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await page.locator(".grid-cell", { hasText: /^1$/ }).waitFor();
    await page.getByRole("button", { name: "Drop made_kept" }).click();
    await button(page, "Drop").click();
    await page.getByText("made_kept is gone.").waitFor();
    await server.rows("DROP VIEW made_view");
    await openPage(page, "#/data/table/made");
    await page.getByRole("tab", { name: "Definition" }).click();
  });
}

async function formsStep({ step, page, server, violations, corpus }: Tools): Promise<void> {
  await step("views and graphs are made by forms, and a graph is changed and dropped", async (t) => {
    const make = async (what: string): Promise<void> => {
      await page.getByRole("button", { name: "Make something new" }).click();
      await page.getByRole("button", { name: what, exact: true }).click();
    };
    await make("View");
    await field(page, "Name").fill("formed");
    await field(page, "Query").fill("SELECT id AS number FROM city WHERE id <= 2;");
    await page.getByRole("switch", { name: /^Store its rows/ }).click();
    t.match(await page.getByRole("dialog").locator("pre").textContent(), /^CREATE MATERIALIZED VIEW formed AS\nSELECT/);
    t.same(await violations(), [], "of the form of a view");
    await button(page, "Make").click();
    await page.locator(".grid-cell", { hasText: /^2$/ }).waitFor();
    t.match(page.url(), "#/data/view/formed");
    t.same(await server.rows("SELECT relkind FROM pg_class WHERE relname = 'formed'"), [["m"]]);
    await server.rows("DROP MATERIALIZED VIEW formed");
    await make("Graph");
    await field(page, "Name").fill("formed");
    t.same(await violations(), [], "of the form of a graph");
    await button(page, "Make").click();
    await page.getByText("There are no such nodes").waitFor();
    t.same(await violations(), [], "of an empty graph");
    await page.getByRole("button", { name: "Change the graph formed" }).click();
    await page.getByRole("button", { name: "Change it by Cypher" }).click();
    await field(page, "Cypher").fill(`CREATE (:Note {name: ${JSON.stringify(corpus[1])}})`);
    await button(page, "Run").click();
    await page.locator(".node-list button", { hasText: corpus[1]! }).waitFor();
    await page.getByRole("button", { name: "Change the graph formed" }).click();
    await page.getByRole("button", { name: "Drop it" }).click();
    await button(page, "Drop").click();
    await page.getByText("formed is gone.").waitFor();
    const { body } = await server.expect(200, "GET", "/v1/graph/graphs");
    t.notOk(body.data.graphs.some(({ name }: { name: string }) => name === "formed"));
    await openPage(page, "#/data/table/made");
    await page.getByRole("tab", { name: "Definition" }).click();
  });
}

async function policyStep({ step, page, server, violations, strangers, corpus }: Tools): Promise<void> {
  await step("a policy is made and dropped, and a column's values are summed up", async (t) => {
    await page.getByRole("button", { name: "Policy", exact: true }).click();
    await field(page, "Name").fill(corpus[2]!);
    await field(page, "Begin with").selectOption({ index: 1 });
    t.same(await violations(), [], "of the form of a policy");
    await button(page, "Make").click();
    await page.getByText("row security is on").waitFor();
    t.same(await server.rows("SELECT policyname, cmd FROM pg_policies"), [[corpus[2], "ALL"]]);
    t.same(await violations(), [], "of a definition");
    await page.getByRole("button", { name: `Drop ${corpus[2]}` }).click();
    await button(page, "Drop").click();
    await page.getByText("only administrators see rows").waitFor();
    await openPage(page, "#/data/table/hostile");
    await page.getByRole("tab", { name: "Statistics" }).click();
    await page.locator(".top-label", { hasText: corpus[1]! }).waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of statistics");
  });
}

async function walkStep({ step, page, watch, violations }: Tools): Promise<void> {
  await step("from a vector to those near it, and a graph as a picture", async (t) => {
    await openPage(page, "#/search?collection=book&q=woods");
    await page.getByRole("tab", { name: "Map" }).click();
    await page.getByRole("list", { name: "Vectors" }).getByRole("button").first().click();
    const nearest = page.getByRole("list", { name: "Nearest to it" }).getByRole("button");
    await nearest.first().waitFor();
    const name = await nearest.first().locator("span").textContent();
    await nearest.first().click();
    await page.locator(".node-panel h2", { hasText: name! }).waitFor();
    t.same(await violations(), [], "of a walk");
    await page.getByRole("button", { name: "Back" }).click();
    await page.locator(".node-panel h2", { hasText: name! }).waitFor({ state: "detached" });
    await openPage(page, "#/graph?label=Person");
    await page.getByText("2 relationships").waitFor();
    const saved = async (entry: RegExp): Promise<Buffer> => {
      await page.getByRole("button", { name: "Save as a picture" }).click();
      const waiting = page.waitForEvent("download");
      await page.getByRole("button", { name: entry }).click();
      return readFileSync(await (await waiting).path());
    };
    t.same((await saved(/^PNG/)).subarray(1, 4).toString(), "PNG");
    const svg = (await saved(/^SVG/)).toString();
    t.match(svg, /^<svg [\s\S]*<text [^>]*>Cleo<\/text>[\s\S]*<\/svg>\n$/);
    t.notMatch(svg, "<img");
    watch.forget(/readback/);
  });
}

async function lassoStep({ step, page, violations }: Tools): Promise<void> {
  await step("a lasso is drawn by keys", async (t) => {
    await openPage(page, "#/search?collection=book&q=woods");
    await page.getByRole("tab", { name: "Map" }).click();
    await page.locator(".map-told", { hasText: /^8 vectors · / }).waitFor();
    await page.getByRole("button", { name: "Lasso" }).click();
    const hint = page.locator(".map-hint");
    await hint.getByText("Arrows move the cross").waitFor();
    const press = async (key: string, times = 1): Promise<void> => {
      for (let i = 0; i < times; i++) await page.keyboard.press(key);
    };
    // Around the whole canvas: the cross stays within.
    await press("Shift+ArrowUp", 20);
    for (const way of ["Left", "Down", "Right"]) {
      await press(`Shift+Arrow${way}`, 30);
      await press("Enter");
    }
    await hint.getByText("3 corners. Space").waitFor();
    await press("Shift+ArrowUp", 30);
    await press("Enter");
    t.same(await violations(), [], "of a lasso");
    await press("Backspace");
    await hint.getByText("3 corners.").waitFor();
    await press("Enter");
    await press(" ");
    await page.locator(".map-told", { hasText: /^8 vectors of 8 · / }).waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.locator(".map-canvas canvas").focus();
    await press("Enter", 2);
    await press("Escape");
    await hint.getByText("Arrows move the cross").waitFor();
    await page.getByRole("button", { name: "Lasso" }).click();
    t.equal(await hint.count(), 0);
  });
}

const STEPS = (text: string) => [
  {
    step: 1,
    text: "Let me look.",
    calls: [{ tool: "query", arguments: { sql: text }, result: `["${text}"]`, ms: 12 }],
  },
  { step: 2, text: "", calls: [{ tool: "list_tables", arguments: {}, error: text, ms: 1 }] },
];

async function traceStep({ step, page, server, watch, violations, strangers, corpus }: Tools): Promise<void> {
  await step("an agent's trace shows its tools, arguments and times", async (t) => {
    await server.rows(`CREATE TABLE "_agent_runs" (id text PRIMARY KEY, user_id text NOT NULL, persona text NOT NULL,
      task text NOT NULL, status text NOT NULL, answer text, error text, provider text NOT NULL, model text NOT NULL,
      steps jsonb NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, started_at timestamptz NOT NULL,
      finished_at timestamptz NOT NULL)`);
    await server.rows(
      `INSERT INTO "_agent_runs" VALUES ('run_1', 'u', $1, $1, 'done', $1, NULL, 'p', 'm', $2::jsonb, 90, 12,
         now() - interval '2 seconds', now())`,
      [corpus[0], JSON.stringify(STEPS(corpus[1]!))],
    );
    await server.rows("CREATE AGENT clerk WITH (instructions = 'Answer')");
    await page.reload();
    await openPage(page, "#/ai/agents");
    await page.getByRole("link", { name: corpus[0]! }).click();
    await page.locator(".tool-call summary").first().click();
    await page.locator(".tool-call pre", { hasText: `"sql": ${JSON.stringify(corpus[1])}` }).waitFor();
    t.match(await page.locator(".tool-call").first().locator("summary").textContent(), /^query.*12\.0 ms$/);
    await page.locator(".tool-call summary", { hasText: "failed" }).waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a trace");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await field(page, "Task").fill("It's a task");
    await button(page, "Run").click();
    await page.getByRole("alert").getByText("a provider that can call tools is needed").waitFor();
    watch.forget(/400/);
    await button(page, "Cancel").click();
  });
}

async function libraryStep({ step, page, server, violations }: Tools): Promise<void> {
  await step("the models of the server are listed, and a pull is followed to its end", async (t) => {
    await openPage(page, "#/ai/models");
    await page.locator("td", { hasText: "tessera-embed-384" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("no-such-model");
    await page.getByRole("button", { name: "Pull" }).click();
    await page.getByRole("region", { name: "Pulls" }).locator(".badge", { hasText: "failed" }).waitFor();
    await page.locator("td", { hasText: "No source provided" }).waitFor();
    t.same(await violations(), [], "of models");
    const { body } = await server.expect(200, "GET", "/v1/ai/models/pulls");
    t.match(body.data.pulls, [{ model: "no-such-model:latest", status: "failed" }]);
  });
}
