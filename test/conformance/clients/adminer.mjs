/** Adminer (PHP) in Chromium: signs in, lists tables, browses and edits rows, runs a query. */
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { matches, step } from "./steps.mjs";

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, FREE_PORT } = process.env;
const SITE = `http://127.0.0.1:${FREE_PORT}/adminer.php`;
const SCREENSHOT = new URL("adminer.png", import.meta.url).pathname;

/** A page that is driven by the DevTools protocol over two pipes: messages end in a zero byte. */
class Browser {
  constructor() {
    const profile = mkdtempSync(join(tmpdir(), "adminer-chromium-"));
    const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"];
    this.child = spawn("chromium", [...options, `--user-data-dir=${profile}`, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    this.calls = new Map();
    this.loaded = () => undefined;
    let text = "";
    this.child.stdio[4].on("data", (data) => {
      const messages = (text + data).split("\0");
      text = messages.pop();
      for (const message of messages) this.received(JSON.parse(message));
    });
  }

  received({ id, result, error, method }) {
    if (method === "Page.loadEventFired") this.loaded();
    const call = this.calls.get(id);
    if (call === undefined) return;
    this.calls.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error.message));
  }

  send(method, params = {}) {
    const id = ++Browser.last;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject }));
  }

  async open() {
    const { targetInfos } = await this.send("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    this.session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await this.send("Page.enable");
  }

  /** Does what loads another page, and waits for it. */
  async loading(action) {
    const loaded = new Promise((resolve) => {
      this.loaded = resolve;
    });
    await action();
    await loaded;
  }

  goTo(query) {
    return this.loading(() => this.send("Page.navigate", { url: SITE + query }));
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  text() {
    return this.run("document.body.innerText");
  }

  /** Fills fields by their names and sends the form by the button. */
  submit(fields, button) {
    const filled = Object.entries(fields).map(
      ([name, value]) =>
        `document.querySelector(${JSON.stringify(`[name=${JSON.stringify(name)}]`)}).value = ${JSON.stringify(value)};`,
    );
    return this.loading(() =>
      this.run(`${filled.join("")} document.querySelector(${JSON.stringify(button)}).click();`),
    );
  }
}
Browser.last = 0;

const client = new pg.Client();
await client.connect();
await client.query(`
  CREATE TABLE authors (id serial PRIMARY KEY, name text NOT NULL);
  CREATE TABLE books (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, author int REFERENCES authors, title text, price numeric(8, 2));
  CREATE VIEW cheap AS SELECT title FROM books WHERE price < 10;
  INSERT INTO authors (name) VALUES ('Ursula'), ('Stanisław');
  INSERT INTO books (author, title, price) VALUES (1, 'The Dispossessed', 9.50), (2, 'Solaris', 12)`);

const php = spawn("php", ["-S", `127.0.0.1:${FREE_PORT}`, "-t", "/usr/share/adminer"], { stdio: "ignore" });
for (let tries = 0; tries < 100; tries++) {
  if (
    await fetch(SITE).then(
      () => true,
      () => false,
    )
  )
    break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const browser = new Browser();
await browser.open();
const here = `?pgsql=${PGHOST}:${PGPORT}&username=${PGUSER}&db=${PGDATABASE}&ns=public`;

await step("sign in", async () => {
  await browser.goTo(`?pgsql=${PGHOST}:${PGPORT}`);
  const fields = { "auth[username]": PGUSER, "auth[password]": PGPASSWORD, "auth[db]": PGDATABASE };
  await browser.submit(fields, "input[type=submit]");
  matches(await browser.text(), /Schema: public[\s\S]*Tables and views/);
});
await step("list tables and views", async () => {
  await browser.goTo(here);
  matches(await browser.text(), /authors[\s\S]*books[\s\S]*cheap/);
});
await step("the structure of a table: columns, indexes, foreign keys", async () => {
  await browser.goTo(`${here}&table=books`);
  const text = await browser.text();
  matches(text, /price\s+numeric\(8,2\)/);
  matches(text, /PRIMARY\s+id/);
  matches(text, /author\s+authors\(id\)/);
});
await step("browse rows", async () => {
  await browser.goTo(`${here}&select=books`);
  matches(await browser.text(), /The Dispossessed\s+9\.50[\s\S]*Solaris\s+12\.00/);
});
await step("edit a row", async () => {
  await browser.goTo(`${here}&edit=authors&where%5Bid%5D=1`);
  await browser.submit({ "fields[name]": "Ursula K." }, "#form input[type=submit]");
  matches(await browser.text(), /Item has been updated/);
});
await step("run a query, with a screenshot", async () => {
  await browser.goTo(
    `${here}&sql=${encodeURIComponent("SELECT a.name, b.title FROM authors a JOIN books b ON b.author = a.id ORDER BY 1")}`,
  );
  await browser.loading(() => browser.run("document.querySelector('#form input[type=submit]').click()"));
  matches(await browser.text(), /Stanisław\s+Solaris[\s\S]*Ursula K\.\s+The Dispossessed[\s\S]*2 rows/);
  const { data } = await browser.send("Page.captureScreenshot");
  writeFileSync(SCREENSHOT, Buffer.from(data, "base64"));
});
await step("an error of the server's", async () => {
  await browser.goTo(`${here}&sql=${encodeURIComponent("SELECT nme FROM authors")}`);
  await browser.loading(() => browser.run("document.querySelector('#form input[type=submit]').click()"));
  matches(await browser.text(), /column "nme" does not exist/);
});
await step("create a table, and drop it", async () => {
  await browser.goTo(`${here}&create=`);
  await browser.submit({ name: "made", "fields[1][field]": "id" }, "#form input[type=submit]");
  matches(await browser.text(), /Table has been created/);
  await browser.goTo(`${here}&create=made`);
  await browser.run("window.confirm = () => true");
  await browser.loading(() => browser.run("document.querySelector('[name=drop]').click()"));
  matches(await browser.text(), /Table has been dropped/);
});

await browser.send("Browser.close").catch(() => undefined);
browser.child.kill();
php.kill();
await client.end();
