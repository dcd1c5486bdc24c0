/**
 * `make console-images`: pictures of the console's pages, light and dark, for a desk and for a phone, into docs/images.
 * It starts a server of its own, loads the sample, and needs Chromium (CHROMIUM names another one). ONLY=map,graph
 * makes those pages alone.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { EXECUTABLE, signIn, startServer } from "./console-server.mjs";

const OUT = "docs/images";
const SIZES = [
  { name: "desk", width: 1440, height: 900 },
  { name: "phone", width: 390, height: 844 },
];
const WAIT_MS = 1_500;
/** On a busy machine. */
const WORK_MS = 120_000;
const ONLY = process.env.ONLY?.split(",") ?? null;

const go = (page, hash) =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);

async function run(page, text, buttons = []) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  await page.waitForTimeout(WAIT_MS);
  for (const button of buttons) await button(page);
}

const ROWS =
  "SELECT v.id, s.name AS ship, h.name AS harbour, v.sailed_on, v.tons\nFROM sample_voyage v\nJOIN sample_ship s ON s.id = v.ship\nJOIN sample_harbour h ON h.id = v.harbour\nWHERE v.tons > 400\nORDER BY v.sailed_on";
const MONTHS =
  "SELECT date_trunc('month', sailed_on)::date AS month, sum(tons) AS tons\nFROM sample_voyage\nGROUP BY 1\nORDER BY 1";

/** Each: its name, where it is, and what happens there before the picture. */
const PAGES = [
  ["home", "#/home"],
  ["query", "#/query", (page) => run(page, ROWS)],
  ["chart", "#/query", (page) => run(page, MONTHS, [(p) => p.getByRole("tab", { name: "Chart" }).click()])],
  ["plan", "#/query", (page) => run(page, ROWS, [(p) => p.getByRole("button", { name: "Analyze" }).click()])],
  ["data", "#/data/table/sample_voyage"],
  ["definition", "#/data/table/sample_voyage", (page) => page.getByRole("tab", { name: "Definition" }).click()],
  ["search", "#/search?collection=sample_log&q=ship+in+a+storm,+waves+over+the+deck"],
  ["map", "#/data/vectors/wares", openMap],
  ["graph", "#/graph", rankGraph],
  ["chat", "#/ai/chat", askChat],
  ["ask", "#/ai/ask", askTables],
  ["model", "#/models", openModel],
  ["branches", "#/branches/of/cleaned?table=visitor", mergeBranch],
  ["operate", "#/operate/health", followHealth],
];

async function askChat(page) {
  await page.getByRole("button", { name: "sample_log" }).click();
  await page.getByLabel("Message").fill("What did the storm do to the boats?");
  await page.keyboard.press("Enter");
  await page.locator(".citations li").first().waitFor();
}

async function askTables(page) {
  await page.getByLabel("Question about your tables").fill("How many voyages are there per harbour?");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByRole("button", { name: "Run" }).click();
}

async function openMap(page) {
  await page.getByRole("tab", { name: "Map" }).click();
  await page.locator(".map-told").waitFor();
}

async function rankGraph(page) {
  await page.getByLabel("Colour by").selectOption("louvain");
  await page.getByText("Loading …").waitFor({ state: "detached" });
  await page.getByLabel("Size by").selectOption("pageRank");
  await page.getByText("Loading …").waitFor({ state: "detached" });
}

async function openModel(page) {
  await page.getByRole("link", { name: "tons" }).first().click();
  await page.getByText("Without a model").waitFor();
}

async function followHealth(page) {
  const leave = page.locator(".branch-bar").getByRole("button", { name: "Leave" });
  if (await leave.isVisible()) await leave.click();
  await page.waitForTimeout(13_000);
}

async function mergeBranch(page) {
  await page.getByRole("button", { name: "Work in it" }).click();
  await page.locator(".branch-bar").waitFor();
  await page.getByRole("button", { name: "Merge …" }).click();
  await page.getByText("both have changed 1 row").waitFor();
}

const WARES = ["tea", "coffee", "bread", "fish", "rope", "lamps", "salt"];

/** The same numbers each time, from −1 to 1. */
function numbers() {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2_147_483_648 - 1;
  };
}

/** Vectors around a few corners, some of which are near each other. */
function wares() {
  const next = numbers();
  const corners = WARES.map(() => Array.from({ length: 32 }, next));
  return Array.from({ length: 900 }, (_, i) => {
    const kind = i % WARES.length;
    const near = corners[(kind + 1) % WARES.length];
    const share = Math.max(0, next()) ** 2;
    return {
      id: `w${i}`,
      vector: corners[kind].map((value, d) => value * (1 - share) + near[d] * share + next() * 0.9),
      metadata: { name: `${WARES[kind]}, lot ${i}`, kind: WARES[kind], price: (i * 7919) % 500 },
    };
  });
}

/** The sample, vectors, and a model. */
async function prepare(browser, url) {
  const page = await browser.newPage();
  await signIn(page, url);
  await page.getByRole("button", { name: "Load the sample" }).click();
  await page.getByText("The sample is loaded.").waitFor();
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem("tessera.session")).token);
  const body = {
    query: "SELECT ship, harbour, extract(month FROM sailed_on) AS month, tons FROM sample_voyage",
    target: "tons",
  };
  const ask = async (path, sent, more = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...more };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(sent) });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await ask("/v1/automl/train", { ...body, name: "tons", max_trials: 3, async_mode: false });
  await ask("/v1/vectors/collections", { name: "wares", dimensions: 32 });
  await ask("/v1/vectors/collections/wares/vectors/batch", { vectors: wares() });
  await makeBranch(ask);
  await page.close();
}

/** Tables that were cleaned in a branch, with a conflict: those of the tour in docs/guide/branches.md. */
async function makeBranch(ask) {
  const run = (sql, more) => ask("/v1/query/execute", { sql }, more);
  await run("CREATE TABLE visitor (id integer PRIMARY KEY, name text, city text)");
  await run("INSERT INTO visitor VALUES (1, 'Ann', 'berlin'), (2, 'Bob', ' Porto'), (3, 'Cleo', 'OSLO')");
  await run("CREATE TABLE visitor_note (id integer PRIMARY KEY, visitor integer, note text)");
  await run("INSERT INTO visitor_note VALUES (1, 1, 'test'), (2, 3, 'wants a quiet room')");
  await ask("/v1/branches", { name: "cleaned", ttl_seconds: 86_400 });
  const inBranch = { "x-tessera-branch": "cleaned" };
  await run("UPDATE visitor SET city = initcap(trim(city))", inBranch);
  await run("DELETE FROM visitor_note WHERE id > 0", inBranch);
  await run("UPDATE visitor SET city = 'Bergen' WHERE id = 3");
}

async function takePictures(browser, url, { name, width, height }, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(WORK_MS);
  await signIn(page, url);
  for (const [id, hash, work] of PAGES.filter(([name]) => ONLY === null || ONLY.includes(name))) {
    await go(page, hash);
    await page.waitForTimeout(WAIT_MS);
    await work?.(page);
    await page.waitForTimeout(WAIT_MS);
    const picture = await page.screenshot();
    await sharp(picture)
      .png({ palette: true, colours: 96, effort: 10 })
      .toFile(join(OUT, `console-${id}-${name}-${colorScheme}.png`));
  }
  await context.close();
}

const directory = mkdtempSync(join(tmpdir(), "tessera-images-"));
const { child, url } = await startServer(directory);
const browser = await chromium.launch({
  executablePath: EXECUTABLE,
  args: ["--no-sandbox"],
});
try {
  mkdirSync(OUT, { recursive: true });
  await prepare(browser, url);
  for (const size of SIZES) for (const scheme of ["light", "dark"]) await takePictures(browser, url, size, scheme);
} finally {
  await browser.close();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
