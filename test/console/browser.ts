/** A real browser for the tests of the console. Chromium comes from the system; CHROMIUM names another one. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { TestServer } from "../e2e/server.js";

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/** Of tap's tests: why they are left out; false where they run. */
export const withoutBrowser =
  executablePath === undefined && "no Chromium is installed: apt-get install chromium, or set CHROMIUM to its path";

/** Of a wait for the page, which a busy machine keeps. */
const WAIT_MS = 60_000;

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/**
 * All rules that axe runs unless it is told otherwise. What it would fetch before is for media, which the console does
 * not have; what it finds is told by its markup, not by a selector that axe looks for among all elements.
 */
const AXE_OPTIONS = "{ resultTypes: ['violations'], preload: false, selectors: false }";

/** What went wrong in a page that nobody asked for. */
export class Watch {
  /** Errors of the console, exceptions, and dialogs. */
  readonly faults: string[] = [];
  /** Addresses of other hosts that were asked for. */
  readonly outside: string[] = [];

  constructor(
    page: Page,
    readonly server: TestServer,
  ) {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        this.faults.push(`${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("dialog", (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const url = request.url();
      const isHere = url.startsWith(server.url) || url.startsWith(server.url.replace("http", "ws"));
      if (!isHere && !/^(?:data|blob):/.test(url)) this.outside.push(url);
    });
  }

  /** Faults that a test expects, such as an answer of 401, are taken out. */
  forget(pattern: RegExp): void {
    this.faults.splice(0, this.faults.length, ...this.faults.filter((fault) => !pattern.test(fault)));
  }
}

export interface Opened {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly watch: Watch;
}

/** The console's first page, in a browser of its own. */
export async function openConsole(server: TestServer): Promise<Opened> {
  const browser = await chromium.launch({ executablePath: executablePath!, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const watch = new Watch(page, server);
  await page.goto(`${server.url}/console/`);
  return { browser, context, page, watch };
}

export async function signIn(
  page: Page,
  { username, password }: { username: string; password: string },
): Promise<void> {
  await page.getByLabel("User name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export async function openPage(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = to;
  }, hash);
}

/** Puts the text into the editor, in place of what is there, and runs it. */
export async function runText(page: Page, text: string): Promise<void> {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
}

/** What axe finds in the page. */
export async function violationsIn(page: Page): Promise<string[]> {
  // Once for each document: it is 650 KB of script.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const found = (await page.evaluate(`axe.run(document, ${AXE_OPTIONS})`)) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
