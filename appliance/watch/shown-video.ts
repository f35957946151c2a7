import type { ArtifactName, Job, RenderService } from '../../lib/index.ts';
import { ARTIFACTS, frameSizeOf, ScenepressError, type Share } from '../../lib/internal.ts';
import { type Chapter, chaptersOf } from './chapters.ts';

/** The part of a service that the pages use. */
export type WatchService = Pick<RenderService, 'shares' | 'plays' | 'openArtifact'>;

/** One of the videos of a link, as pages show it. */
export interface ShownVideo {
  share: Share;
  job: Job;
  /** From 1. */
  place: number;
  /** Of all videos of the link, in their order; null: without one. */
  titles: (string | null)[];
  title: string | null;
  widthPx: number;
  heightPx: number;
  /** Null: the thumbnail. */
  posterSeconds: number | null;
  chapters: Chapter[];
}

/** The video of a link at a place. Errors: those of `shares.find`; `not_found` for another place. */
export async function shownVideo(service: WatchService, token: string, place: number): Promise<ShownVideo> {
  const { share, jobs } = await service.shares.find(token);
  const job = jobs[place - 1];
  if (!job) throw new ScenepressError('not_found', 'There is no such video under this link.');
  const plays = await service.plays(job.jobId);
  const titles = jobs.map((each) => titleOf(each));
  const { poster } = share;
  const play = poster && 'play' in poster ? plays[poster.play] : undefined;
  const end = play && play.startSeconds + play.seconds - 1 / job.fps;
  return {
    ...{ share, job, place, titles },
    title: (jobs.length === 1 ? share.title : null) ?? titles[place - 1] ?? null,
    ...frameSizeOf(job.quality, job.aspectRatio),
    posterSeconds:
      poster && 'seconds' in poster ? poster.seconds : end === undefined ? null : Math.max(0, end),
    chapters: chaptersOf(plays),
  };
}

/** The files that a page may link to. */
export function filesOf({ job, share }: Pick<ShownVideo, 'job' | 'share'>): ArtifactName[] {
  const names = job.artifacts.map(({ name }) => name);
  return share.allowDownload ? names : names.filter((name) => ARTIFACTS[name].format === null);
}

/** What a file is called when it is kept, such as `Pythagoras-480p.mp4`. */
export function keptName(video: ShownVideo, name: ArtifactName, untitled: string): string {
  const title = (video.title ?? untitled)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80);
  const height = Math.min(video.widthPx, video.heightPx);
  const [stem = '', ...extension] = name.split('.');
  const kind = ['video', 'captions', 'thumbnail'].includes(stem) ? '' : `-${stem}`;
  return `${title || untitled}-${height}p${kind}.${extension.join('.')}`;
}

function titleOf({ title, className }: Job): string | null {
  return title ?? (className === '' ? null : className);
}
