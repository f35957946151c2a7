import type { Finding } from '../../model/finding-types.ts';
import type { Picture } from '../../model/output-types.ts';
import { type DeclaredParam, declaredParam } from '../../model/params.ts';
import type { JobReport, Play, WorkTimes } from '../../model/renderer-messages.ts';
import {
  MOST_OUTPUT,
  MOST_PARAMS,
  MOST_PICTURES,
  MOST_PLAYS,
  MOST_WARNINGS,
} from '../../model/renderer-protocol.ts';

/** Collects what the process of a scene reports besides its end, up to limits. */
export class SceneReports {
  readonly plays: Play[] = [];
  readonly moves: string[][] = [];
  readonly pictures: Picture[] = [];
  readonly findings: Finding[] = [];
  readonly params: DeclaredParam[] = [];
  output = '';
  /** What it spent its time on, and when it said so. */
  work: { reportedAtMs: number; scene: WorkTimes } | undefined;
  readonly #nowMs: () => number;
  readonly #onOutput: (text: string) => void;

  /** `onOutput`: called with the next part of the output. */
  constructor({ nowMs, onOutput }: { nowMs: () => number; onOutput: (text: string) => void }) {
    this.#nowMs = nowMs;
    this.#onOutput = onOutput;
  }

  /** Takes a report; false if it is of another kind. */
  take(report: JobReport): boolean {
    switch (report.type) {
      case 'work':
        this.work ??= { reportedAtMs: this.#nowMs(), scene: report.ms };
        return true;
      case 'plays':
        add(this.plays, report.plays, MOST_PLAYS);
        return true;
      case 'moves':
        add(this.moves, report.moves, MOST_PLAYS);
        return true;
      case 'pictures':
        add(this.pictures, report.pictures, MOST_PICTURES);
        return true;
      case 'findings':
        add(this.findings, report.findings, MOST_WARNINGS);
        return true;
      case 'params':
        add(this.params, report.params.map(declaredParam), MOST_PARAMS);
        return true;
      case 'output': {
        const text = report.text.slice(0, MOST_OUTPUT - this.output.length);
        this.output += text;
        if (text !== '') this.#onOutput(text);
        return true;
      }
      default:
        return false;
    }
  }
}

function add<Item>(items: Item[], more: readonly Item[], most: number): void {
  items.push(...more.slice(0, most - items.length));
}
