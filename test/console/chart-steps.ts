/** Steps of the console's test about charts of many rows. */
import type { Tools } from "./branch-steps.js";
import { openPage, runText } from "./browser.js";

/** One value stands out, near the end of more rows than the canvas has pixels. */
const SPIKE = "SELECT i AS id, CASE WHEN i = 90000 THEN 1000 ELSE i % 3 END AS v FROM generate_series(1, 100000) i";

const FRAMES_MAX = 300;

/** Soon, in the highest part of the drawing, nine tenths of the way across, is something that has a colour. */
const SHOWS_SPIKE = `new Promise((resolve) => {
  const canvas = document.querySelector(".chart canvas");
  const isShown = () => {
    const left = Math.floor(canvas.width * 0.85);
    const { data } = canvas.getContext("2d").getImageData(left, 4, Math.floor(canvas.width * 0.1), 20);
    for (let i = 0; i < data.length; i += 4) {
      const [red, green, blue, alpha] = data.subarray(i, i + 4);
      if (alpha > 100 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) return true;
    }
    return false;
  };
  let left = ${FRAMES_MAX};
  const look = () => {
    left--;
    if (isShown() || left === 0) resolve(left > 0);
    else requestAnimationFrame(look);
  };
  look();
})`;

/** What is written on canvases from now on. */
const KEEP_TEXTS = `(() => {
  globalThis.drawn = new Set();
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    drawn.add(text);
    fillText.call(this, text, ...place);
  };
})()`;

export async function chartSteps({ step, page, watch, violations }: Tools): Promise<void> {
  await step("a chart of 100,000 rows shows them all", async (t) => {
    await openPage(page, "#/query");
    await runText(page, SPIKE);
    await page.getByText("100,000 rows ·").waitFor();
    await page.getByRole("tab", { name: "Chart" }).click();
    const canvas = page.getByRole("img", { name: "v by id" });
    const kind = page.getByLabel("Chart", { exact: true });
    t.equal(await kind.inputValue(), "line");
    /** A canvas that has just been drawn may be replaced once more, and forgets the key. */
    const goTo = async (key: string, hasText: string | RegExp): Promise<void> => {
      const reading = page.locator(".chart-reading", { hasText });
      for (let tries = 0; tries < 10 && (tries === 0 || !(await reading.isVisible())); tries++) {
        await canvas.focus();
        await page.keyboard.press(key);
        await reading.waitFor({ timeout: 3000 }).catch(() => undefined);
      }
      await reading.waitFor();
    };
    for (const each of ["line", "bar"]) {
      await kind.selectOption(each);
      await goTo("End", /100,?000/);
      t.ok(await page.evaluate(SHOWS_SPIKE), `${each}: what stands out is drawn`);
    }
    await kind.selectOption("scatter");
    await goTo("Home", "v: 1");
    t.ok(await page.evaluate(SHOWS_SPIKE), "points: what stands out is drawn");
    t.same(await violations(), [], "of a chart");
    watch.forget(/readback/);
    await page.getByRole("tab", { name: "Table", exact: true }).click();
  });

  await step("rows without a place are left out of a chart, and it says so", async (t) => {
    const sql = "SELECT nullif(i % 5, 0) AS id, i AS v FROM generate_series(1, 10) i";
    await runText(page, sql);
    await page.getByText("10 rows ·").waitFor();
    await page.getByRole("tab", { name: "Chart" }).click();
    await page.getByLabel("Chart", { exact: true }).selectOption("line");
    await page.getByText("2 rows without id left out.").waitFor();
    await page.getByRole("img", { name: "v by id" }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    const reading = page.locator(".chart-reading", { hasText: "1v: 6" });
    await reading.waitFor();
    t.equal(await reading.count(), 1, "a line goes from left to right");
    await page.getByRole("tab", { name: "Table", exact: true }).click();
  });

  await step("dates are those of the calendar wherever the reader is, and the axis has round ones", async (t) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setTimezoneOverride", { timezoneId: "America/New_York" });
    await runText(page, "SELECT date '2026-01-31' + i AS day, i AS v FROM generate_series(1, 300) i");
    await page.getByText("300 rows ·").waitFor();
    await page.getByRole("tab", { name: "Chart" }).click();
    await page.evaluate(KEEP_TEXTS);
    await page.setViewportSize({ width: 1200, height: 800 });
    const canvas = page.getByRole("img", { name: "v by day" });
    await canvas.focus();
    await page.keyboard.press("Home");
    await page.locator(".chart-reading", { hasText: "1 Feb 2026" }).waitFor();
    await page.waitForFunction("drawn.has('Mar 2026') && drawn.has('300')");
    t.pass();
    await session.detach();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("tab", { name: "Table", exact: true }).click();
  });
}
