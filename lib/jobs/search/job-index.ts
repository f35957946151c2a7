import { isTerminal, type JobRecord, type JobStatus, statusOf } from '../../model/job.ts';
import type { FoundLabels, JobSearch } from '../../model/job-search.ts';
import { WordIndex } from './word-index.ts';
import { queryWords, wordsOf } from './words.ts';

/** Of an entry, without its words. */
const ENTRY_BYTES = 600;
/** Joins the words of labels: each begins behind one. */
const BREAK = '\n';

interface Entry {
  jobId: string;
  status: JobStatus;
  isCanceled: boolean;
  quality: string;
  createdAtMs: number;
  starred: boolean;
  project: string | null;
  tags: readonly string[];
  /** The words of title, tags and project. */
  labels: string;
}

/** What is looked for, with the words of its text. */
export interface Wanted extends Omit<JobSearch, 'text'> {
  words: readonly string[];
}

/** Jobs by their words and labels, newest first. Older jobs are appended, newer ones put in front. */
export class JobIndex {
  readonly #words = new WordIndex();
  /** Numbered from 0 on. */
  readonly #older: (Entry | undefined)[] = [];
  /** Numbered from -1 downwards. */
  readonly #newer: (Entry | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #unfinished = new Map<string, JobStatus>();
  /** How many jobs have each label. */
  readonly #projects = new Map<string, number>();
  readonly #tags = new Map<string, number>();
  readonly #removed = new Set<number>();

  get size(): number {
    return this.#numbers.size;
  }

  get sizeBytes(): number {
    return this.#words.sizeBytes + ENTRY_BYTES * this.size;
  }

  has(jobId: string): boolean {
    return this.#numbers.has(jobId);
  }

  /** The jobs that had not ended when they were last put here. */
  unfinished(): ReadonlyMap<string, JobStatus> {
    return this.#unfinished;
  }

  /** Adds a job with its code. */
  add(job: JobRecord, code: string, place: 'newer' | 'older'): void {
    if (this.has(job.jobId)) {
      this.update(job);
      return;
    }
    const list = place === 'newer' ? this.#newer : this.#older;
    const entry = entryOf(job);
    list.push(entry);
    this.#count(entry, 1);
    const number = place === 'newer' ? -list.length : list.length - 1;
    this.#numbers.set(job.jobId, number);
    const words = wordsOf(code);
    for (const text of [
      job.jobId,
      job.className,
      job.metadataJson ?? '',
      job.error ?? '',
      job.captions ?? '',
    ])
      wordsOf(text, words);
    for (const { text = '' } of job.audio ?? []) wordsOf(text, words);
    this.#words.add(number, words);
  }

  /** Takes the state and the labels of a job, if it is here: its other texts stay until it is forgotten. */
  update(job: JobRecord): void {
    const number = this.#numbers.get(job.jobId);
    if (number === undefined) return;
    if (job.forgottenAtMs !== undefined) {
      this.remove(job.jobId);
      return;
    }
    const before = this.#entry(number);
    const hasEnded = isTerminal(job.phase) && (before?.status === 'queued' || before?.status === 'running');
    if (hasEnded) this.#words.add(number, wordsOf(`${job.error ?? ''} ${job.captions ?? ''}`));
    this.#replace(number, entryOf(job));
  }

  /** Removes a job; its words with {@link purge}. */
  remove(jobId: string): void {
    const number = this.#numbers.get(jobId);
    if (number === undefined) return;
    this.#numbers.delete(jobId);
    this.#replace(number, undefined);
    this.#removed.add(number);
  }

  /** Removes the words of removed jobs. */
  purge(): void {
    if (this.#removed.size === 0) return;
    this.#words.remove(this.#removed);
    this.#removed.clear();
  }

  /** The ids of jobs that match, in the order of the search, at most `limit`. */
  find({ words, order = 'newest', cursor, limit = 50, ...filter }: Wanted): string[] {
    const total = this.#newer.length + this.#older.length;
    const found = words.map((word) => this.#placesOf(word, total));
    const [start, end, step] = order === 'newest' ? [0, total, 1] : [total - 1, -1, -1];
    const ids: string[] = [];
    const known = cursor === undefined ? undefined : this.#numbers.get(cursor);
    const from = known === undefined ? start : known + this.#newer.length + step;
    const isBehind = (jobId: string) =>
      cursor === undefined || known !== undefined || (order === 'newest' ? jobId < cursor : jobId > cursor);
    for (let place = from; place !== end && ids.length < limit; place += step) {
      const entry = this.#entry(place - this.#newer.length);
      if (!entry || !isBehind(entry.jobId) || !passes(entry, filter)) continue;
      const hasAll = words.every((word, i) => found[i]?.[place] === 1 || entry.labels.includes(BREAK + word));
      if (hasAll) ids.push(entry.jobId);
    }
    return ids;
  }

  /** The projects and tags of all jobs, the most frequent first. */
  labels(): FoundLabels {
    return { projects: byCount(this.#projects), tags: byCount(this.#tags) };
  }

  /** By place, newest first: 1 for a job with a word that begins so. */
  #placesOf(prefix: string, total: number): Uint8Array {
    const places = new Uint8Array(total);
    const offset = this.#newer.length;
    this.#words.each(prefix, (number) => {
      places[number + offset] = 1;
    });
    return places;
  }

  #entry(number: number): Entry | undefined {
    return number < 0 ? this.#newer[-number - 1] : this.#older[number];
  }

  #replace(number: number, entry: Entry | undefined): void {
    const before = this.#entry(number);
    if (before) this.#count(before, -1);
    if (entry) this.#count(entry, 1);
    if (number < 0) this.#newer[-number - 1] = entry;
    else this.#older[number] = entry;
  }

  #count({ jobId, status, project, tags }: Entry, by: 1 | -1): void {
    if (by === 1 && (status === 'queued' || status === 'running')) this.#unfinished.set(jobId, status);
    else this.#unfinished.delete(jobId);
    if (project) add(this.#projects, project, by);
    for (const tag of tags) add(this.#tags, tag, by);
  }
}

/** Counts one more or one less. */
function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

/** The words of a text to look for. */
export function wantedOf({ text = '', ...search }: JobSearch): Wanted {
  return { ...search, words: queryWords(text) };
}

function entryOf(job: JobRecord): Entry {
  const { jobId, phase, quality, createdAtMs, title, starred, project } = job;
  const tags = job.tags ?? [];
  const words = wordsOf([title ?? '', project ?? '', ...tags].join(' '));
  return {
    ...{ jobId, quality, createdAtMs, tags, project },
    status: phase === 'reserving' ? 'queued' : statusOf(phase),
    isCanceled: isTerminal(phase) && job.failedBy === 'cancel',
    starred: starred === true,
    labels: words.size > 0 ? BREAK + [...words].join(BREAK) : '',
  };
}

function passes(
  entry: Entry,
  { status, canceled, quality, tag, project, starred, sinceMs, untilMs }: Omit<JobSearch, 'text'>,
): boolean {
  return (
    (status === undefined || entry.status === status) &&
    (canceled === undefined || entry.isCanceled === canceled) &&
    (quality === undefined || entry.quality === quality) &&
    (tag === undefined || entry.tags.includes(tag)) &&
    (project === undefined || entry.project === project) &&
    (starred === undefined || entry.starred === starred) &&
    (sinceMs === undefined || entry.createdAtMs >= sinceMs) &&
    (untilMs === undefined || entry.createdAtMs < untilMs)
  );
}

function byCount(counts: Map<string, number>): FoundLabels['tags'] {
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
