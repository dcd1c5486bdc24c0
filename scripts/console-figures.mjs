/**
 * `make console-figures`: what a browser loads for the first page and how soon it can be used, and the times between
 * frames while a million rows scroll. It starts a server of its own, and needs Chromium.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { EXECUTABLE, signIn, startServer } from "./console-server.mjs";

const FRAMES_SCROLLED = 120;

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
  console.log(`sign-in: ${(bytes / 1024).toFixed(1)} KB over the wire, usable after ${ready.toFixed(0)} ms`);
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

const directory = mkdtempSync(join(tmpdir(), "tessera-figures-"));
const { child, url } = await startServer(directory);
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await firstPage(page, url);
  await millionRows(page);
} finally {
  await browser.close();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
