/** The prose of Markdown texts, and what is no Markdown. */
import t from "tap";
import { plainMarkdown } from "../../src/language/plain-markdown.js";

t.test("prose stays as it stands, marks and what is no prose go", async (t) => {
  const text = `---
title: Pumps
---
# Pumps

The **main pump** runs at 2,900 rpm. It was
installed on 3 May 2019, see [the log](log.md).

\`\`\`sh
start --pump
\`\`\`

| part | price |
|---|---|
| seal | 4 |

- Check \`max_pressure\` daily.
- [x] Replace the *filter* every 6 months.

> Call Ms. Webb first.

![photo](a.png)
`;
  t.same(plainMarkdown(text).split("\n"), [
    "The main pump runs at 2,900 rpm. It was installed on 3 May 2019, see the log.",
    "Check max_pressure daily.",
    "Replace the filter every 6 months.",
    "Call Ms. Webb first.",
  ]);
});

t.test("what is no Markdown is left alone", async (t) => {
  const text = "The price is 3 * 4 euros, a_b_c stays.\nSo does #5 and the second line.";
  t.equal(plainMarkdown(text), text);
});
