/** Searches collections by words, by meaning, or by both, and says how each hit came to its place. */
import { useMemo, useState } from "preact/hooks";
import { durationText, plural } from "../../lib/format.js";
import { lazy } from "../../lib/lazy.js";
import { useLoad } from "../../lib/load.js";
import { replacePlace } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import type { PageProps } from "../../shell/pages.js";
import { Busy, Button } from "../../ui/button.js";
import { Select, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Empty, Failure, Waiting } from "../../ui/notice.js";
import { Page } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { Hits } from "./hits.js";
import { type Answer, searchDocuments, searchVectors } from "./searches.js";

const CollectionMap = lazy(async () => (await import("./collection-map.js")).CollectionMap);
const DocumentsMap = lazy(async () => (await import("./collection-map.js")).DocumentsMap);

const VIEWS = [
  { id: "hits" as const, label: "Hits" },
  { id: "map" as const, label: "Map" },
];

interface Place {
  readonly kind: "collection" | "vectors";
  readonly name: string;
}

async function placesOf(signal: AbortSignal): Promise<readonly Place[]> {
  const [collections, vectors] = await Promise.all([
    client().request<{ items: readonly { name: string }[] }>("GET", "/v1/collections", { signal }),
    client().request<readonly { name: string }[]>("GET", "/v1/vectors/collections", { signal }),
  ]);
  return [
    ...collections.items.map(({ name }): Place => ({ kind: "collection", name })),
    ...vectors.map(({ name }): Place => ({ kind: "vectors", name })),
  ];
}

export function SearchPage({ query }: PageProps) {
  const { data: places, error } = useLoad(placesOf, []);
  if (places === undefined) return <Waiting error={error} />;
  if (places.length === 0) {
    return (
      <Page title="Search">
        <Empty icon="search" title="There is nothing to search yet">
          A collection of documents is searched by words and by meaning, a collection of vectors by likeness.
        </Empty>
      </Page>
    );
  }
  const wanted = places.find(({ kind, name }) => (kind === "collection" ? query.collection : query.vectors) === name);
  return (
    <SearchIn key={`${query.collection}/${query.vectors}`} places={places} first={wanted ?? places[0]!} query={query} />
  );
}

interface SearchInProps {
  readonly places: readonly Place[];
  readonly first: Place;
  readonly query: PageProps["query"];
}

function SearchIn({ places, first, query }: SearchInProps) {
  const [place, setPlace] = useState(first);
  const [text, setText] = useState(query.q ?? "");
  const [filter, setFilter] = useState(query.filter ?? "");
  const [asked, setAsked] = useState(
    isAsked(first, query.q) ? { place: first, text: query.q ?? "", filter: query.filter ?? "" } : null,
  );
  const search = (): void => {
    setAsked(isAsked(place, text) ? { place, text, filter } : null);
    replacePlace(["search"], {
      [place.kind]: place.name,
      q: text === "" ? undefined : text,
      filter: filter === "" ? undefined : filter,
      view: query.view,
    });
  };
  const names = places.map(({ kind, name }): [string, string] => [
    `${kind}/${name}`,
    kind === "vectors" ? `${name} (vectors)` : name,
  ]);
  return (
    <Page title="Search" lead="By words, by meaning, or both. Each hit shows what it scores by each.">
      <Form class="search-form" onSubmit={() => search()}>
        <Select
          label="In"
          value={`${place.kind}/${place.name}`}
          options={names}
          onChange={(chosen) => setPlace(places.find(({ kind, name }) => `${kind}/${name}` === chosen)!)}
        />
        <TextField label="What to look for" type="search" value={text} onInput={setText} isFocused />
        <TextField
          label="Filter, as JSON"
          value={filter}
          onInput={setFilter}
          placeholder='{"year": {"$gte": 1800}}'
          isCode
        />
        <Button kind="primary" type="submit" icon="search">
          Search
        </Button>
      </Form>
      {place.kind === "vectors" && (asked === null || asked.place !== place) && (
        <div class="map-page">
          <CollectionMap key={place.name} name={place.name} />
        </div>
      )}
      {asked !== null && asked.place === place && <Results {...asked} query={query} />}
      {asked === null && place.kind === "collection" && (
        <Empty icon="search" title={`Search ${place.name}`}>
          Write words or a whole question. With a filter alone, every document that it lets through is shown.
        </Empty>
      )}
    </Page>
  );
}

/** Vectors are searched by a text or a vector, documents by a filter alone, too. */
function isAsked({ kind }: Place, text: string | undefined): boolean {
  return text !== undefined && (kind === "collection" || text !== "");
}

interface ResultsProps {
  readonly place: Place;
  readonly text: string;
  readonly filter: string;
  readonly query: PageProps["query"];
}

function Results({ place, text, filter, query }: ResultsProps) {
  const { data, error, isLoading } = useLoad<Answer>(
    async (signal) => {
      const condition = filter.trim() === "" ? undefined : (JSON.parse(filter) as Record<string, unknown>);
      return place.kind === "collection"
        ? searchDocuments(place.name, text, condition, signal)
        : searchVectors(place.name, text, condition, signal);
    },
    [place, text, filter],
  );
  const view = query.view === "map" ? "map" : "hits";
  const setView = (id: "hits" | "map"): void =>
    replacePlace(["search"], { ...query, view: id === "hits" ? undefined : id });
  const PlaceMap = place.kind === "vectors" ? CollectionMap : DocumentsMap;
  const found = useMemo(() => new Set(data?.hits.map(({ id }) => id)), [data]);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return isLoading ? <Busy label="Searching" /> : null;
  return (
    <>
      <div class="row">
        <Tabs label="Show the hits as" tabs={VIEWS} current={view} onChange={setView} />
        <p class="muted" role="status">
          {plural(data.hits.length, "hit")} · {durationText(data.ms)}
          {data.note !== null && ` · ${data.note}`}
        </p>
      </div>
      {view === "map" ? (
        <div class="map-page">
          <PlaceMap name={place.name} found={found} />
        </div>
      ) : (
        <Hits hits={data.hits} />
      )}
    </>
  );
}
