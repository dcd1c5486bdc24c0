/** The first page: a sample over all models of data, and five queries that walk through it. */

import { useState } from "preact/hooks";
import { catalog, loadCatalog } from "../../lib/catalog.js";
import { goTo } from "../../lib/router.js";
import { runNext } from "../../lib/run-next.js";
import { client, session } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { Badge, Button } from "../../ui/button.js";
import { CodeBlock } from "../../ui/code-block.js";
import { Failure } from "../../ui/notice.js";
import { Page, Panel } from "../../ui/panel.js";
import { tell } from "../../ui/toast.js";
import { loadSample, SAMPLE_QUERIES, SAMPLE_TABLE, type SampleQuery } from "./sample.js";

export function HomePage() {
  const { objects } = useStore(catalog);
  const current = useStore(session);
  const [step, setStep] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const hasSample = objects?.some(({ name, schema }) => schema === "public" && name === SAMPLE_TABLE) === true;
  const load = async (): Promise<void> => {
    setError(null);
    try {
      await loadSample(client(), setStep);
      await loadCatalog();
      tell("The sample is loaded.");
    } catch (failure) {
      setError(failure);
    }
    setStep(null);
  };
  const name = current.state === "in" ? current.user.username : "";
  return (
    <Page title={`Welcome, ${name}`} lead="One database for tables, documents, vectors, text and graphs.">
      <Panel title="A sample to begin with" actions={hasSample ? <Badge tone="good">Loaded</Badge> : undefined}>
        <p>
          Harbours, ships and their voyages as tables, logbook entries as documents that are found by words and meaning,
          and crews as a graph. All of it is made up. It takes the names <code>sample_…</code>.
        </p>
        {!hasSample && (
          <div class="row">
            <Button
              kind="primary"
              icon="download"
              disabled={step !== null || objects === null}
              onClick={() => void load()}
            >
              Load the sample
            </Button>
            {step !== null && <span role="status">{step} …</span>}
          </div>
        )}
        <Failure error={error} />
      </Panel>
      <ol class="steps">
        {SAMPLE_QUERIES.map((query, index) => (
          <li key={query.title}>
            <Step query={query} number={index + 1} isReady={hasSample} />
          </li>
        ))}
      </ol>
    </Page>
  );
}

interface StepProps {
  readonly query: SampleQuery;
  readonly number: number;
  readonly isReady: boolean;
}

function Step({ query: { title, text, language, view, place }, number, isReady }: StepProps) {
  const open = (): void => {
    if (place !== undefined) {
      goTo(place.path, place.query);
      return;
    }
    runNext(text);
    goTo(["query"], { [language]: text, title, view });
  };
  return (
    <section class="step" aria-label={title}>
      <span class="step-number">{number}</span>
      <div>
        <h2>{title}</h2>
        <CodeBlock>{text}</CodeBlock>
      </div>
      <Button disabled={!isReady} onClick={open}>
        Try it
      </Button>
    </section>
  );
}
