/** The console in a real browser, against a real server: each page, each flow once, and what it must never do. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TOTP, URI } from "otpauth";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { ADMIN_PASSWORD, TestServer } from "../e2e/server.js";
import { branchSteps } from "./branch-steps.js";
import { type Opened, openConsole, openPage, runText, signIn, violationsIn, withoutBrowser } from "./browser.js";
import { chartSteps } from "./chart-steps.js";
import { definitionSteps } from "./definition-steps.js";
import { linkSteps } from "./link-steps.js";
import { operateSteps } from "./operate-steps.js";
import { outageSteps } from "./outage-steps.js";

/** Would each do something, if anything took it for markup, code or an address. */
const HOSTILE = `<img src=x onerror="alert(1)">`;
const CORPUS = [
  HOSTILE,
  `"><script>alert(2)</script>`,
  `<svg/onload=alert(3)>`,
  `javascript:alert(4)`,
  `</textarea><iframe srcdoc="<script>alert(5)</script>">`,
  `{{constructor.constructor("alert(6)")()}}`,
  `<em><img src=x onerror=alert(7)></em>`,
];

const ANN_PASSWORD = "ann has a password";

t.setTimeout(600_000);

/** A folder that the server may read. */
const FILES = mkdtempSync(join(tmpdir(), "console-files-"));
writeFileSync(join(FILES, "ferry.md"), "# Ferry\n\nThe ferry leaves at noon.\n");

/** Around nearly all of a canvas, as shares of its sides. */
const CORNERS = [
  [0.99, 0.01],
  [0.99, 0.99],
  [0.01, 0.99],
] as const;

let server: TestServer;
let opened: Opened;
let page: Page;

async function prepare(): Promise<void> {
  server = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_NLI_ENABLED: "true",
    TESSERA_AI_PULL_SOURCES: "./nowhere",
    TESSERA_FILES_ROOTS: FILES,
  });
  const rows = async (sql: string, parameters: unknown[] = []) => server.rows(sql, parameters);
  await rows("CREATE TABLE city (id integer PRIMARY KEY, name text NOT NULL, country text, people bigint)");
  await rows(
    "INSERT INTO city SELECT i, 'city ' || i, CASE WHEN i % 3 = 0 THEN 'PT' ELSE 'ES' END, i * 1000 FROM generate_series(1, 200) i",
  );
  await rows(`CREATE TABLE "${HOSTILE.replaceAll('"', '""')}" (id integer PRIMARY KEY, "<b>bold</b>" text)`);
  await rows("CREATE TABLE hostile (id integer PRIMARY KEY, body text)");
  for (const [i, text] of CORPUS.entries()) await rows("INSERT INTO hostile VALUES ($1, $2)", [i, text]);
  const fields = [
    { name: "title", type: "string" },
    { name: "blurb", type: "string", embed: true },
  ];
  await server.expect(201, "POST", "/v1/collections", { name: "book", schema: { fields } });
  const documents = [
    { title: "Walden", blurb: "Henry Thoreau, living alone in the woods near Concord in 1845" },
    ...CORPUS.map((text) => ({ title: text, blurb: `woods ${text}` })),
  ];
  await server.expect(201, "POST", "/v1/collections/book/documents/bulk", { documents });
  const cypher = "CREATE (a:Person {name: $a})-[:KNOWS]->(b:Person {name: 'Ben'})-[:KNOWS]->(:Person {name: 'Cleo'})";
  await server.expect(200, "POST", "/v1/graph/match", { cypher, parameters: { a: HOSTILE } });
  await rows("CREATE TABLE spot (id integer PRIMARY KEY, name text, kind text, v vector(3))");
  await rows(
    `INSERT INTO spot SELECT i, CASE WHEN i = 1 THEN $1::text ELSE 'spot ' || i END, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END,
       ARRAY[i % 2, 1 - i % 2, (i % 7) / 10.0]::real[]::vector FROM generate_series(1, 40) i`,
    [HOSTILE],
  );
  await rows("CREATE TABLE street (id integer PRIMARY KEY, city integer REFERENCES city)");
  await server.expect(201, "POST", "/v1/graph/graphs", { name: "dots" });
  const dots = "UNWIND range(1, 800) AS i CREATE (:Dot {i: i})-[:NEXT]->(:Dot {i: -i})";
  await server.expect(200, "POST", "/v1/graph/match", { cypher: dots, graph: "dots" });
  await server.expect(201, "POST", "/admin/tenants", { id: "acme" });
  const ann = { username: "ann", password: ANN_PASSWORD, roles: ["super_admin"] };
  await server.expect(201, "POST", "/admin/tenants/acme/users", ann);
  opened = await openConsole(server);
  page = opened.page;
}

const violations = () => violationsIn(page);

/** Nothing of the corpus has become an element. */
async function strangers(): Promise<number> {
  return page.locator("img, iframe, script:not([src]), b, #console svg[onload]").count();
}

/** Nothing reaches over the sides. */
async function fits(): Promise<boolean> {
  return (await page.evaluate("document.documentElement.scrollWidth <= innerWidth")) as boolean;
}

t.test("the console", { skip: withoutBrowser }, async (t) => {
  await prepare();
  t.teardown(async () => {
    await opened.browser.close();
    await server.stop();
    rmSync(FILES, { recursive: true });
  });
  const { watch } = opened;
  // Each step begins where the one before has left the page.
  const step = async (name: string, work: (t: Test) => Promise<void>): Promise<void> => {
    if (t.passing()) await t.test(name, work);
  };

  await step("its answer has a strict policy", async (t) => {
    const answer = await fetch(`${server.url}/console/`);
    const policy = answer.headers.get("content-security-policy")!;
    t.match(policy, "default-src 'none'");
    t.match(policy, "require-trusted-types-for 'script'");
    t.notMatch(policy, /unsafe-|https?:|\*/);
    t.equal(answer.headers.get("cache-control"), "no-cache");
    const text = await answer.text();
    const parts = [...text.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, name]) => name!);
    t.equal(parts.length, 2, "all that the first page needs is one part, beside what starts it");
    const script = parts.find((name) => name.startsWith("part-"));
    const file = await fetch(`${server.url}/console/${script}`, { headers: { "accept-encoding": "br" } });
    t.match(file.headers.get("cache-control"), "immutable");
    t.equal(file.headers.get("content-encoding"), "br");
    t.match(await file.text(), /export\{.*\};?\s*$/, "it is sent as it was encoded");
    t.equal((await fetch(`${server.url}/console/nothing.js`)).status, 404);
    t.match(await (await fetch(server.url)).text(), 'href="/console/"');
  });

  await step("a user signs in, with the second factor too", async (t) => {
    await signIn(page, { username: "admin", password: "wrong" });
    await page.getByRole("alert").waitFor();
    watch.forget(/401/);
    t.same(await violations(), [], "of the sign-in");
    const laterCode = await secondFactor();
    await page.reload();
    await signIn(page, { username: "eva", password: "eva has a password" });
    await page.getByLabel("Code of your second factor").fill(laterCode());
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    const key = await server.expect(201, "POST", "/v1/api-keys", { name: "console" });
    await page.getByRole("tab", { name: "API key" }).click();
    await page.getByLabel("API key", { exact: true }).fill(key.body.data.raw_key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(page, { username: "admin", password: ADMIN_PASSWORD });
    await page.getByRole("heading", { name: "Welcome, admin" }).waitFor();
    t.equal(await page.locator(".tenant-button").textContent(), "system", "the tenant is shown");
  });

  await step("a tab can be signed in to several tenants", async (t) => {
    await page.locator(".tenant-button").click();
    await page.getByRole("button", { name: "Sign in to another tenant" }).click();
    t.same(await violations(), [], "of the dialog");
    await signIn(page, { username: "ann", password: ANN_PASSWORD });
    await page.locator(".tenant-button", { hasText: "acme" }).click();
    await page.getByRole("button", { name: "system admin" }).click();
    await page.locator(".tenant-button", { hasText: "system" }).click();
    await page.getByRole("button", { name: "Sign in to another tenant" }).click();
    await signIn(page, { username: "admin", password: ADMIN_PASSWORD });
    await page.getByRole("dialog").waitFor({ state: "detached" });
    t.equal(await page.locator(".tenant-button").textContent(), "system");
  });

  await step("statements run, and their results are shown in all ways", async (t) => {
    await openPage(page, "#/query");
    await runText(page, "SELECT id, name, people FROM city ORDER BY id");
    await page.getByText("200 rows").waitFor();
    t.match(await page.locator(".grid-row").first().textContent(), "city 1");
    await page.getByRole("button", { name: "Summaries of the columns" }).click();
    await page.locator(".summary").nth(2).waitFor();
    t.match(await page.locator(".summary").nth(2).textContent(), "mean 100,500");
    await page.getByRole("tab", { name: "Chart" }).click();
    await page.getByRole("img", { name: "people by id" }).waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    t.match(await page.locator(".json-view").textContent(), '"name": "city 1"');
    await page.getByRole("tab", { name: "Table" }).click();
    await page.getByRole("button", { name: "people bigint" }).click();
    await page.getByRole("button", { name: "people bigint" }).click();
    t.match(await page.locator(".grid-row").first().textContent(), "city 200", "sorted downwards");
    await page.locator(".grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    t.match(await page.getByRole("dialog").textContent(), "The whole row");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Export" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    t.match(readFileSync(await file.path(), "utf8"), /^id,name,people\n1,city 1,1000\n/);
    t.same(await violations(), [], "of the query page");
  });

  await step("an error is underlined where it is; parameters, transactions and plans", async (t) => {
    await runText(page, "SELECT id, nam FROM city WHERE id > $1");
    await page.getByRole("alert").waitFor();
    t.equal(await page.locator(".cm-lintRange-error").textContent(), "nam");
    await runText(page, "SELECT count(*) FROM city WHERE id > $1");
    await page.locator(".parameters input").fill("150");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".grid-cell", { hasText: /^50$/ }).waitFor();
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByText("Transaction open").waitFor();
    await runText(page, "DELETE FROM city WHERE id > 10");
    await page.getByText("190 rows changed.").waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Transaction open").waitFor({ state: "detached" });
    t.same(await server.rows("SELECT count(*) FROM city"), [[200]]);
    await runText(page, "SELECT country, count(*) FROM city GROUP BY 1");
    await page.getByRole("button", { name: "Analyze" }).click();
    await page.locator(".plan-name", { hasText: "Seq Scan on city" }).waitFor();
    t.match(await page.locator(".plan").textContent(), "Own time");
    t.same(await violations(), [], "of a plan");
  });

  await step("a long statement is stopped, a live one follows the data", async (t) => {
    await runText(page, "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("Stopped").waitFor();
    await runText(page, "SELECT id, name FROM city WHERE id <= 2 ORDER BY name DESC");
    await page.getByText("2 rows").waitFor();
    await page.getByRole("switch", { name: "Live" }).click();
    await page.locator(".result-status", { hasText: "Live" }).waitFor();
    await server.rows("UPDATE city SET name = 'Lisbon' WHERE id = 2");
    await page.locator(".grid-row.fresh", { hasText: "Lisbon" }).waitFor();
    t.match(await page.locator(".grid-row").first().textContent(), "city 1", "in the order of the query");
    await page.getByRole("switch", { name: "Live" }).click();
  });

  await step("vectors of a result are a map, which is coloured and filtered", async (t) => {
    await runText(page, "SELECT id, name, kind, v FROM spot");
    await page.getByRole("tab", { name: "Map" }).click();
    await page.getByText("40 vectors · 3 dimensions").waitFor();
    await page.getByRole("button", { name: /^odd/ }).click();
    await page.getByText("20 vectors of 40").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.locator(".node-list button", { hasText: HOSTILE }).waitFor();
    await page.getByRole("button", { name: "Lasso" }).click();
    const { x, y, width, height } = (await page.locator(".map-canvas canvas").boundingBox())!;
    await page.mouse.move(x + 2, y + 2);
    await page.mouse.down();
    for (const [across, down] of CORNERS) await page.mouse.move(x + width * across, y + height * down, { steps: 2 });
    await page.mouse.up();
    await page.getByText("40 vectors of 40").waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a map");
    await page.getByRole("tab", { name: "Table", exact: true }).click();
  });

  await step("a graph is drawn, completion knows the schema, the palette opens things", async (t) => {
    await page.locator("select.language").selectOption("cypher");
    await runText(page, "MATCH p = (a)-[r]->(b) RETURN p");
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByText("3 nodes, 2 relationships").waitFor();
    t.equal(await strangers(), 0);
    await page.locator("select.language").selectOption("sql");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("SELECT * FROM cit");
    await page.locator(".cm-completionLabel", { hasText: "city" }).first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page" }).fill("hostile");
    await page.locator(".palette-entry[aria-selected=true]", { hasText: "hostile" }).waitFor();
    t.same(await violations(), [], "of the palette");
    await page.keyboard.press("Enter");
    await page.locator(".thing-head h2", { hasText: "hostile" }).waitFor();
  });

  await step("data is shown, changed and imported; what looks like markup is text", async (t) => {
    await page.locator(".grid-cell", { hasText: CORPUS[6]! }).waitFor();
    for (const text of CORPUS) t.ok(await page.locator(".grid-cell", { hasText: text }).count(), text);
    await page.locator("a.side-entry", { hasText: HOSTILE }).click();
    await page.getByText("<b>bold</b>").first().waitFor();
    await page.getByRole("tab", { name: "Definition" }).click();
    t.equal(await strangers(), 0);
    await page.locator("a.side-entry", { hasText: "city" }).click();
    await page.locator(".grid-cell", { hasText: /^city 3$/ }).dblclick();
    await page.getByRole("dialog").locator("textarea").fill("Porto");
    t.match(await page.getByRole("dialog").textContent(), "UPDATE city\nSET name = $1::text\nWHERE id = $2");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.locator(".grid-cell", { hasText: "Porto" }).waitFor();
    t.same(await server.rows("SELECT name FROM city WHERE id = 3"), [["Porto"]]);
    t.same(await violations(), [], "of a table");
    await page.getByRole("button", { name: "Import a file" }).click();
    const content = `id,name\n1,"Ann, jr"\n2,${CORPUS[2]}\n`;
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "crew.csv", mimeType: "text/csv", buffer: Buffer.from(content) });
    await page.getByRole("dialog").getByText("Ann, jr").waitFor();
    t.same(await violations(), [], "of the import");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("2 rows imported into crew.").waitFor();
    await page.getByRole("button", { name: "Diagram of tables and keys" }).click();
    await page
      .locator(".diagram-line title", { hasText: "street.city refers to city.id" })
      .waitFor({ state: "attached" });
    t.ok(await page.locator(".diagram-table", { hasText: "<img src=x" }).count(), "a table's name in the diagram");
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of the diagram");
    await page.locator("a.side-entry", { hasText: "book" }).click();
    await page.locator(".document", { hasText: CORPUS[1]! }).first().waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a collection");
  });

  await step("searches say what each hit scores by words and by meaning", async (t) => {
    await openPage(page, "#/search?collection=book&q=alone+in+the+woods");
    await page.locator(".hit").first().waitFor();
    const first = await page.locator(".hit", { hasText: "Walden" }).textContent();
    t.match(first, /Both[\d.]+Words[\d.]+Meaning[\d.]+/);
    t.equal((await page.locator(".hit mark").count()) > 0, true);
    await page.locator(".hit .entities li", { hasText: "1845" }).waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a search");
  });

  await step("a graph is walked", async (t) => {
    await openPage(page, "#/graph");
    await page.getByText("3 nodes, 2 relationships").waitFor();
    await page.locator(".node-list button", { hasText: HOSTILE }).click();
    await page.getByRole("button", { name: "Way from here" }).click();
    await page.getByRole("button", { name: "All nodes" }).click();
    await page.locator(".node-list button", { hasText: "Cleo" }).click();
    await page.getByRole("button", { name: "Way to here" }).click();
    await page.getByText("3 nodes on the way").waitFor();
    await page.getByLabel("Colour by").selectOption("wcc");
    await page.locator(".graph-legend", { hasText: "3" }).waitFor();
    await page.getByLabel("Size by").selectOption("pageRank");
    await page.locator(".row-values dt", { hasText: "PageRank" }).waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a graph");
  });

  await step("a large graph is laid out beside the page", async (t) => {
    await openPage(page, "#/graph?graph=dots");
    await page.getByLabel("At most").selectOption("10000");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("1,600 nodes, 800 relationships").waitFor();
    // Drawn by the places that the worker has found: there are none before.
    const drawn = `new Promise((resolve) => {
      const canvas = document.querySelector(".graph-canvas canvas");
      const look = () => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        if (data.some((byte) => byte !== 0)) resolve();
        else requestAnimationFrame(look);
      };
      look();
    })`;
    await page.evaluate(drawn);
    watch.forget(/readback/);
    const lone = "UNWIND range(1, 7) AS i CREATE (:Lone {i: i})";
    await server.expect(200, "POST", "/v1/graph/match", { cypher: lone, graph: "dots" });
    await page.getByLabel("Condition over n").fill("n.i < 0 OR n.i = 7");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("1,601 nodes, 800 relationships").waitFor();
    const note = page.locator(".left-out");
    t.equal(await note.textContent(), "", "nothing was left out");
    await page.getByLabel("At most").selectOption("100");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("200 nodes, 100 relationships").waitFor();
    t.match(await note.textContent(), "the first 100 relationships: there are more");
    await page.getByLabel("Condition over n").fill("n:Lone");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("7 nodes, 0 relationships").waitFor();
    t.equal(await note.textContent(), "", "all are shown again");
  });

  await step("the sample is loaded, and its queries run", async (t) => {
    await openPage(page, "#/home");
    await page.getByRole("button", { name: "Load the sample" }).click();
    await page.getByText("The sample is loaded.").waitFor();
    t.same(await violations(), [], "of the first page");
    await page
      .getByRole("region", { name: /^All at once/ })
      .getByRole("button")
      .click();
    await page.getByText("12 rows").waitFor();
    t.match(await page.locator(".grid-row").first().textContent(), "The engine stopped twice");
    await openPage(page, "#/home");
    await page.getByRole("region", { name: /^Rows/ }).getByRole("button").click();
    await page.getByRole("img", { name: "tons by month" }).waitFor();
    await openPage(page, "#/query?sql=SELECT+77+AS+sent");
    await page.getByText("Nothing has run yet").waitFor();
    await server.rows("SELECT 1");
    t.equal(await page.locator(".grid-cell").count(), 0, "nothing runs because of an address");
  });

  await step("questions, claims, memories, chats and agents", async (t) => {
    await openPage(page, "#/ai/ask");
    await page.getByLabel("Question about your tables").fill("How many cities are there per country?");
    await page.getByRole("button", { name: "Ask" }).click();
    t.match(await page.getByLabel("It can be changed").inputValue(), "GROUP BY city.country");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".grid-cell", { hasText: "PT" }).waitFor();
    t.same(await violations(), [], "of questions");
    await openPage(page, "#/ai/claims");
    await page.getByRole("button", { name: "Check" }).click();
    await page.locator(".badge", { hasText: "lie" }).waitFor();
    t.same(await violations(), [], "of claims");
    await server.expect(201, "POST", "/v1/ai/memory/helper", { content: HOSTILE });
    await openPage(page, "#/ai/memory/helper");
    await page.locator("td", { hasText: HOSTILE }).waitFor();
    t.same(await violations(), [], "of memories");
    await openPage(page, "#/ai/chat");
    await page.getByRole("button", { name: "book" }).click();
    await page.getByLabel("Message").fill(`Who lives alone? ${HOSTILE}`);
    await page.keyboard.press("Enter");
    await page.locator(".citations li").first().waitFor();
    t.equal(await strangers(), 0);
    t.same(await violations(), [], "of a chat");
    await openPage(page, "#/ai/agents");
    await page.getByText("No agent has run yet").waitFor();
    t.same(await violations(), [], "of agents");
  });

  await step("a model is trained, followed, read and asked", async (t) => {
    await openPage(page, "#/models");
    await page.getByRole("button", { name: "Train a model" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("From the table").selectOption("city");
    await dialog.getByLabel("Predict the column").selectOption("people");
    await dialog.getByLabel("Name").fill("size");
    await dialog.getByLabel("Trials").fill("1");
    t.same(await violations(), [], "of the form");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("link", { name: "size" }).click();
    await page.getByText("Without a model").waitFor();
    await page.getByRole("button", { name: "Predict" }).click();
    await page.locator("pre.value", { hasText: "predictions" }).waitFor();
    await page.getByRole("region", { name: "Leaderboard" }).getByText("used").waitFor();
    await page.getByLabel("Query").fill("SELECT * FROM city");
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByRole("img", { name: "Predicted, by what is true" }).waitFor();
    t.same(await violations(), [], "of a model");
  });

  const tools = { step, page, watch, server, violations, strangers, fits, folder: FILES, corpus: CORPUS };
  await operateSteps(tools);
  await chartSteps(tools);
  await definitionSteps(tools);
  await linkSteps(tools);
  await branchSteps(tools);
  await outageSteps(tools);

  await step("every page fits a phone", async (t) => {
    await page.setViewportSize({ width: 360, height: 740 });
    const pages = ["home", "query", "data", "search", "graph", "ai", "models", "branches", "operate"];
    for (const id of [...pages, "operate/users", "operate/backups", "operate/diagnostics", "ai/models"]) {
      await openPage(page, `#/${id}`);
      await page.locator("h1").first().waitFor({ state: "attached" });
      if (id.includes("/")) await page.locator("table.list").first().waitFor();
      t.ok(await fits(), id);
    }
    await openPage(page, "#/data/table/city");
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByText("privileges alone count").waitFor();
    const cut = "[...document.querySelectorAll('.panel')].filter((e) => e.scrollHeight > e.clientHeight + 1).length";
    t.equal(await page.evaluate(cut), 0, "no panel is cut");
    t.ok(await fits(), "a definition");
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  t.same(watch.faults, [], "no error, warning or dialog");
  t.same(watch.outside, [], "no request to another host");
});

/** Gives a code of the next half minute: a code counts once, and the present one confirms the second factor. */
async function secondFactor(): Promise<() => string> {
  const token = await userEva();
  const { body } = await server.expect(200, "POST", "/v1/auth/mfa/enroll", {}, { token });
  const authenticator = URI.parse(body.data.otpauth_url as string) as TOTP;
  await server.expect(200, "POST", "/v1/auth/mfa/confirm", { code: authenticator.generate() }, { token });
  return () => authenticator.generate({ timestamp: Date.now() + 30_000 });
}

async function userEva(): Promise<string> {
  const password = "eva has a password";
  await server.expect(201, "POST", "/admin/tenants/system/users", { username: "eva", password, roles: ["user"] });
  return server.login("eva", password);
}
