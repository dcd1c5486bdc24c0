/**
 * Finds who does what to whom in a sentence, from its chunks by a few rules: subject, verbs, objects with their
 * prepositions; passives; "X is the CEO of Y", "X, the CEO of Y," and "Y's CEO X"; clauses with who, which and that. A
 * pronoun stands for the latest subject. Used by extract-graph.ts.
 */
import type { Chunk, NounChunk, VerbChunk } from "./chunks.js";

export interface Relation {
  readonly from: NounChunk;
  readonly to: NounChunk;
  /** ACQUIRE, WORK_WITH, BORN_IN, CEO_OF, IS_A. */
  readonly type: string;
  /** UTF-16 offsets in the whole text. */
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
}

/** What pronouns may mean, from one sentence to the next. */
export interface Memory {
  person: NounChunk | null;
  thing: NounChunk | null;
  /** Subjects of the last sentence that had several. */
  several: readonly NounChunk[];
  /** Names of no known kind that the text speaks of as persons: "who", "she", "the CEO of". */
  readonly persons: Set<NounChunk>;
}

/** A subject: what it is, where it is written, and how sure that is. */
interface Actor {
  readonly noun: NounChunk;
  readonly start: number;
  readonly end: number;
  readonly trust: number;
}

const PRONOUN_TRUST = 0.75;
const CONCEPT_TRUST = 0.8;
const BASE_CONFIDENCE = 0.85;

export function relationsOf(chunks: readonly Chunk[], memory: Memory): Relation[] {
  const reader = new SentenceReader(chunks, memory);
  reader.read();
  return reader.relations;
}

class SentenceReader {
  readonly relations: Relation[] = [];
  private subjects: Actor[] = [];
  /** Subjects of the clause around one with who, which or that. */
  private outer: Actor[] | null = null;
  private verb: VerbChunk | null = null;
  private preposition = "";
  /** The subject of the sentence's first verb. */
  private first: Actor | null = null;
  /** That of the last object, which those joined to it share. */
  private shared = "";
  /** Nouns since the verb, so that farther ones count for less. */
  private objects = 0;
  private at = 0;

  constructor(
    private readonly chunks: readonly Chunk[],
    private readonly memory: Memory,
  ) {}

  read(): void {
    for (this.at = 0; this.at < this.chunks.length; this.at++) this.take(this.chunks[this.at] as Chunk);
    this.remember();
  }

  private take(chunk: Chunk): void {
    switch (chunk.kind) {
      case "noun":
        this.takeNoun(chunk);
        break;
      case "pronoun":
        this.takePronoun(chunk);
        break;
      case "verb":
        this.takeVerb(chunk);
        break;
      case "relative":
        this.outer = this.subjects;
        this.subjects = this.lastNoun();
        if (chunk.word === "who" || chunk.word === "whom") this.meetPersons(this.subjects);
        this.verb = null;
        break;
      case "preposition":
        this.preposition = chunk.word;
        break;
      case "stop":
        this.verb = null;
        this.subjects = [];
        this.outer = null;
        break;
      default:
        break;
    }
  }

  private chunk(offset: number): Chunk | undefined {
    return this.chunks[this.at + offset];
  }

  /** The last noun before this place, as the subject of "who …". */
  private lastNoun(): Actor[] {
    for (let i = this.at - 1; i >= 0; i--) {
      const chunk = this.chunks[i] as Chunk;
      if (chunk.kind === "noun") return [actor(chunk)];
    }
    return [];
  }

  private meetPersons(actors: readonly Actor[]): void {
    for (const { noun } of actors) if (noun.type === "Entity") this.memory.persons.add(noun);
  }

  private takeVerb(verb: VerbChunk): void {
    // "X, who leads Y, lives …": the second verb is X's.
    if (this.outer !== null && this.verb !== null && this.chunk(-1)?.kind !== "and") {
      this.subjects = this.outer.length > 0 ? this.outer : this.subjects;
      this.outer = null;
    }
    this.verb = verb;
    this.first ??= this.subjects[0] ?? null;
    this.preposition = "";
    this.shared = "";
    this.objects = 0;
  }

  private takePronoun(chunk: Chunk & { word: string }): void {
    const nouns = this.meaningOf(chunk.word);
    const actors = nouns.map((noun) => ({
      noun,
      start: chunk.start,
      end: chunk.end,
      trust: PRONOUN_TRUST,
    }));
    if (/^(he|she|him|her)$/.test(chunk.word)) this.meetPersons(actors);
    if (this.verb === null || this.startsClause()) {
      this.verb = null;
      this.subjects = actors;
    } else {
      for (const each of actors) this.takeObject(each);
    }
    this.preposition = "";
  }

  /** The sentence's first subject, where it can be meant, comes before those of earlier sentences. */
  private meaningOf(pronoun: string): readonly NounChunk[] {
    const one = (noun: NounChunk | null) => (noun === null ? [] : [noun]);
    const first = this.first?.noun ?? null;
    const type = first === null ? null : this.typeOf(first);
    if (/^(he|she|him|her)$/.test(pronoun)) {
      const maybe = type === "Person" || (type === "Entity" && first?.name.includes(" "));
      return one(maybe ? first : this.memory.person);
    }
    if (pronoun === "it") return one(/^(Organization|Place|Entity)$/.test(type ?? "") ? first : this.memory.thing);
    return pronoun === "they" || pronoun === "them" ? this.memory.several : [];
  }

  private takeNoun(noun: NounChunk): void {
    if (this.takeRole(noun) || this.takeWhere(noun)) return;
    // The owner of what comes next ("Eiffel's company") is not meant itself.
    if (noun.possessive && this.chunk(1)?.kind === "noun") return;
    const before = this.chunk(-1)?.kind;
    if (this.verb !== null && !this.startsClause()) {
      this.takeObject(actor(noun));
    } else if (this.verb === null && this.preposition !== "") {
      // "Research in Tanzania", "after the war, ": what stands after the preposition is no subject.
    } else if (noun.type !== "Date") {
      const more = this.verb === null && (before === "and" || before === "comma") && this.subjects.length > 0;
      this.verb = null;
      this.subjects = more ? [...this.subjects, actor(noun)] : [actor(noun)];
    }
    this.preposition = "";
  }

  /** Whether the noun or pronoun here is no object of the verb before but the subject of the next: "… and Bob left". */
  private startsClause(): boolean {
    const before = this.chunk(-1)?.kind === "article" ? this.chunk(-2) : this.chunk(-1);
    return (before?.kind === "and" || before?.kind === "comma") && this.chunk(1)?.kind === "verb";
  }

  /** "Y's CEO X", "X, the CEO of Y" and "X, a physicist". Answers whether the noun was one of these. */
  private takeRole(noun: NounChunk): boolean {
    const before = this.chunk(-1);
    if (noun.role && before?.kind === "noun" && before.possessive) {
      const holder = this.chunk(1);
      if (holder?.kind !== "noun" || holder.type === "Concept") return false;
      this.meetPersons([actor(holder)]);
      this.add(actor(holder), actor(before), `${typeText(noun.name)}_OF`, 1);
      return true;
    }
    const after = this.chunk(1);
    if (noun.role && !noun.possessive && after?.kind === "noun" && after.type !== "Concept" && after.type !== "Date") {
      // "Physicist Marie Curie won …"
      this.meetPersons([actor(after)]);
      this.add(actor(after), actor(noun), "IS_A", 0.9);
      return true;
    }
    const apposed = before?.kind === "article" ? this.chunk(-2) : before;
    if (noun.type !== "Concept" || apposed?.kind !== "comma" || (before?.kind !== "article" && !noun.role))
      return false;
    const [holder] = this.lastNoun();
    if (holder === undefined || holder.noun.type === "Concept" || holder.noun.type === "Date") return false;
    const of = this.ofNoun();
    if (noun.role) this.meetPersons([holder]);
    if (of !== null) {
      this.add(holder, actor(of), `${typeText(noun.name)}_OF`, 1);
      // Nothing more is to be read of "of Y".
      while (this.chunk(0) !== of) this.at++;
    } else {
      this.add(holder, actor(noun), "IS_A", 0.8);
    }
    return true;
  }

  /** "Austin, Texas": the second place is where the first is, unless places are listed ("Rome, Paris and Oslo"). */
  private takeWhere(noun: NounChunk): boolean {
    const inside = this.chunk(-2);
    if (noun.type !== "Place" || this.chunk(-1)?.kind !== "comma" || inside?.kind !== "noun") return false;
    const isListed =
      this.chunk(1)?.kind === "and" || (this.chunk(1)?.kind === "comma" && this.chunk(2)?.kind === "noun");
    const startsClause = this.chunk(1)?.kind === "verb" && inside.type !== "Place";
    if (isListed || startsClause || (inside.type !== "Place" && inside.type !== "Organization")) return false;
    this.add(actor(inside), actor(noun), "IN", 0.8);
    return true;
  }

  /** The name in "of Y" or "of the Y" right after this place. */
  private ofNoun(): NounChunk | null {
    const of = this.chunk(1);
    if (of?.kind !== "preposition" || (of.word !== "of" && of.word !== "at")) return null;
    const next = this.chunk(2)?.kind === "article" ? this.chunk(3) : this.chunk(2);
    return next?.kind === "noun" && next.type !== "Concept" ? next : null;
  }

  private takeObject(object: Actor): void {
    const verb = this.verb as VerbChunk;
    const before = this.chunk(-1)?.kind;
    if (this.preposition === "" && (before === "and" || before === "comma")) this.preposition = this.shared;
    this.shared = this.preposition;
    const trust = this.objects++ === 0 ? 1 : 0.9;
    if (verb.negated) return;
    for (const subject of this.subjects) {
      if (subject.noun === object.noun) continue;
      if (verb.copula) this.takeBeing(subject, object);
      else if (verb.passive && this.preposition === "by") this.add(object, subject, typeText(verb.root), trust);
      else this.add(subject, object, this.verbType(verb), trust);
    }
  }

  private verbType(verb: VerbChunk): string {
    const action = typeText(verb.passive ? verb.written : verb.root);
    return this.preposition === "" ? action : `${action}_${typeText(this.preposition)}`;
  }

  /** "X is the CEO of Y", "X is a physicist", "X is in Y". */
  private takeBeing(subject: Actor, object: Actor): void {
    if (this.preposition !== "") {
      this.add(subject, object, `IS_${typeText(this.preposition)}`, 0.9);
      return;
    }
    const of = object.noun.type === "Concept" ? this.ofNoun() : null;
    if (of === null) {
      this.add(subject, object, object.noun.type === "Concept" ? "IS_A" : "IS", 0.9);
      return;
    }
    if (object.noun.role) this.meetPersons([subject]);
    this.add(subject, actor(of), `${typeText(object.noun.name)}_OF`, 1);
    while (this.chunk(0) !== of) this.at++;
  }

  private add(from: Actor, to: Actor, type: string, trust: number): void {
    const concept = (each: Actor) => (each.noun.type === "Concept" ? CONCEPT_TRUST : 1);
    const confidence = BASE_CONFIDENCE * trust * from.trust * to.trust * concept(from) * concept(to);
    if (type === "" || from.noun.type === "Date") return;
    this.relations.push({
      from: from.noun,
      to: to.noun,
      type,
      start: Math.min(from.start, to.start),
      end: Math.max(from.end, to.end),
      confidence: Math.round(confidence * 100) / 100,
    });
  }

  private typeOf(noun: NounChunk): string {
    return this.memory.persons.has(noun) ? "Person" : noun.type;
  }

  private remember(): void {
    const subjects = this.subjects.map(({ noun }) => noun);
    const nouns = this.chunks.filter((chunk) => chunk.kind === "noun");
    const is =
      (...types: string[]) =>
      (noun: NounChunk) =>
        types.includes(this.typeOf(noun));
    // Subjects are meant before others, owners last; "he" may be a name of a kind that is not known.
    const ranked = [...subjects, ...nouns.filter((noun) => !noun.possessive), ...nouns];
    this.memory.person = ranked.find(is("Person")) ?? subjects.find(is("Entity")) ?? this.memory.person;
    this.memory.thing =
      ranked.find(is("Organization", "Place", "Entity")) ?? subjects.find(is("Concept")) ?? this.memory.thing;
    if (subjects.length > 1) this.memory.several = subjects;
  }
}

const actor = (noun: NounChunk): Actor => ({ noun, start: noun.start, end: noun.end, trust: 1 });

/** As types of relationships are written: "climate change" is CLIMATE_CHANGE. */
function typeText(words: string): string {
  return words
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");
}
