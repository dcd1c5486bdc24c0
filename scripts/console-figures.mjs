/**
 * `make console-figures`: what a browser loads for the first page and how soon it can be used, and the times between
 * frames while a million rows scroll, and while a map of 100,000 vectors and a graph of 50,000 nodes are enlarged and
 * moved. It starts a server of its own, and needs Chromium.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { EXECUTABLE, signIn, startServer } from "./console-server.mjs";

const FRAMES_SCROLLED = 120;
const VISITS = 9;
/** Until the layout of a large graph has come to rest. */
const SETTLE_MS = 60_000;

/** Times between frames, in milliseconds, while the rows scroll. */
function frameTimes(page) {
  return page.evaluate(async (count) => {
    const element = document.querySelector(".grid");
    const times = [];
    let before = performance.now();
    for (let i = 0; i < count; i++) {
      element.scrollTop += 400 + i * 97;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      times.push(now - before);
      before = now;
    }
    return times.sort((a, b) => a - b);
  }, FRAMES_SCROLLED);
}

const share = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);
const told = (times) => `median ${share(times, 0.5)} ms, 95% ${share(times, 0.95)} ms, most ${share(times, 1)} ms`;

/** How soon the sign-in can be used, in milliseconds, in a browser that is warm but has nothing of the console. */
async function laterVisits(browser, url) {
  const times = [];
  for (let i = 0; i < VISITS; i++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/console/`);
    await page.getByLabel("User name").waitFor();
    times.push(await page.evaluate(() => performance.now()));
    await context.close();
  }
  return times.sort((a, b) => a - b);
}

async function firstPage(page, url) {
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(`${url}/console/`);
  await page.getByLabel("User name").waitFor();
  const ready = await page.evaluate(() => performance.now());
  const later = share(await laterVisits(page.context().browser(), url), 0.5);
  console.log(`sign-in: ${(bytes / 1024).toFixed(1)} KB over the wire, usable after ${ready.toFixed(0)} ms`);
  console.log(`in ${VISITS} later visits without a cache: median ${later} ms`);
  await signIn(page, url);
  console.log(`first page with its data: ${(bytes / 1024).toFixed(1)} KB over the wire in all`);
  await page.evaluate(() => {
    location.hash = "#/query";
  });
  await page.locator(".cm-content").waitFor();
  console.log(`with the editor: ${(bytes / 1024).toFixed(1)} KB over the wire in all`);
}

async function millionRows(page) {
  await page.locator("select.limit").selectOption("1000000");
  await page.locator(".cm-content").click();
  await page.keyboard.insertText(
    "SELECT i AS id, 'name ' || i AS name, i * 1.5 AS price FROM generate_series(1, 1000000) i",
  );
  await page.keyboard.press("Control+Enter");
  await page.getByText("1,000,000 rows ·").waitFor({ timeout: 120_000 });
  console.log(`a million rows: ${await page.locator(".result-status").textContent()}`);
  console.log(`scrolling them: ${told(await frameTimes(page))}`);
}

/** Times between frames while what is drawn grows and shrinks under the pointer. */
function zoomTimes(page, selector) {
  return page.evaluate(
    async ([wanted, count]) => {
      const element = document.querySelector(wanted);
      const times = [];
      let before = performance.now();
      for (let i = 0; i < count; i++) {
        const { left, top, width, height } = element.getBoundingClientRect();
        const at = { clientX: left + width / 2, clientY: top + height / 2 };
        element.dispatchEvent(
          new WheelEvent("wheel", { ...at, deltaY: i % 40 < 20 ? -30 : 30, bubbles: true, cancelable: true }),
        );
        await new Promise((resolve) => requestAnimationFrame(resolve));
        // After the picture has been made.
        await new Promise((resolve) => setTimeout(resolve));
        const now = performance.now();
        times.push(now - before);
        before = now;
      }
      return times.sort((a, b) => a - b);
    },
    [selector, FRAMES_SCROLLED],
  );
}

const MAP_SQL = `SELECT i AS id, i % 12 AS kind,
  ARRAY[3 * sin(i % 12), 3 * cos(i % 12), 3 * sin(2 * (i % 12)), sin(i * 1.7), cos(i * 2.3), sin(i * 3.1), sin(i * 0.7), cos(i * 5.9)]::real[]::vector AS v
FROM generate_series(1, 100000) i`;

async function map(page) {
  await page.locator("select.limit").selectOption("100000");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(MAP_SQL);
  await page.keyboard.press("Control+Enter");
  await page.getByText("100,000 rows ·").waitFor();
  await page.getByRole("tab", { name: "Map" }).click();
  await page.locator(".map-told", { hasText: "100,000 vectors" }).waitFor({ timeout: 120_000 });
  console.log(`a map: ${await page.locator(".map-told").textContent()}`);
  console.log(`moving it: ${told(await zoomTimes(page, ".map-canvas canvas"))}`);
}

/** Twelve communities, with a few relationships between them. */
const GRAPH = `UNWIND range(0, 49999) AS i CREATE (:Person {i: i})
WITH count(*) AS made UNWIND range(12, 49999) AS i
MATCH (a:Person {i: i}), (b:Person {i: i - 12 * (1 + (i * 7919) % (i / 12))}), (c:Person {i: (i * 104729) % 4166 * 12 + i % 12})
CREATE (a)-[:KNOWS]->(b), (a)-[:KNOWS]->(c)`;

async function graph(page, url) {
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem("tessera.session")).token);
  const ask = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await ask("/v1/graph/indexes", { label: "Person", property: "i" });
  await ask("/v1/graph/match", { cypher: GRAPH });
  await page.evaluate(() => {
    location.hash = "#/graph";
  });
  await page.getByLabel("At most").selectOption("100000");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByText(/^50,000 nodes/).waitFor({ timeout: 120_000 });
  console.log(`a graph: ${await page.locator(".node-panel h2").textContent()}`);
  console.log(`moving it while it is laid out: ${told(await zoomTimes(page, ".graph-canvas canvas"))}`);
  await page.waitForTimeout(SETTLE_MS);
  console.log(`moving it later: ${told(await zoomTimes(page, ".graph-canvas canvas"))}`);
}

const directory = mkdtempSync(join(tmpdir(), "tessera-figures-"));
const { child, url } = await startServer(directory);
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await firstPage(page, url);
  await millionRows(page);
  await map(page);
  await graph(page, url);
} finally {
  await browser.close();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
