import type { Drawing } from '../../model/formats.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type { RenderResult, RenderTask } from '../../model/render-task.ts';
import type { JobReport, SpeechAnswer } from '../../model/renderer-messages.ts';
import type { JobEnded } from '../../model/zygote-messages.ts';
import type { Zygote } from '../start/zygote.ts';
import { Encoding, hasFailed } from './encoding.ts';
import { silentEncoding, silentEnd } from './end-messages.ts';
import { type EndReason, type ForkOutcome, type Forks, JobInterrupted, type Occupied } from './forks.ts';
import { encodeJob, renderJob } from './jobs-of-tasks.ts';
import type { ProgressSender } from './progress-sender.ts';
import type { SceneReports } from './scene-reports.ts';
import type { SpeechRequests } from './speech-requests.ts';

/** The folders of a drawing. */
export interface Folders {
  jobFolder: string;
  /** For the files to publish. */
  outFolder: string;
}

interface Parts {
  current: Occupied;
  encoder: Zygote;
  folders: Folders;
  limits: RenderLimits;
  /** How long the render has taken. */
  durationMs: () => number;
  progress: ProgressSender;
  reports: SceneReports;
  speech: SpeechRequests;
}

/** The end of a drawing; `reason`: why it was ended, if it was. */
interface Drawn {
  rendered: ForkOutcome;
  encoded: ForkOutcome;
  failure: RenderResult | undefined;
  reason: JobEnded['reason'] | EndReason | undefined;
}

/** Draws the scene of a task once, and encodes the frames. `onEncoding`: called before the encoding begins. */
export async function drawScene(
  forks: Forks,
  task: RenderTask,
  drawing: Drawing,
  { current, encoder, folders: { jobFolder, outFolder }, limits, durationMs, ...heard }: Parts,
  onEncoding: (encoding: Encoding) => void,
): Promise<Drawn> {
  const { zygote } = current;
  const { progress, reports, speech } = heard;
  let tell: (message: SpeechAnswer) => void = () => {};
  const job = renderJob(task, limits, drawing);
  forks.makeFolder(jobFolder);
  const encoding = new Encoding({
    forks,
    encoder,
    background: task.background,
    folder: outFolder,
    job: encodeJob(job, task, drawing),
    onPreview: (report) => progress.hear(report),
    onFailed: () => {
      current.isDoomed = true;
      zygote.killJob();
    },
  });
  onEncoding(encoding);
  encoding.begin();
  const hear = (report: JobReport) => {
    if (speech.take(report, (answer) => tell(answer))) return;
    if (!reports.take(report) && report.type !== 'preview') progress.hear(report);
  };
  const rendered = await forks
    .run(current, jobFolder, job, hear, {
      frames: encoding.frames,
      files: task.files,
      onConnected: (tellFork) => {
        tell = tellFork;
      },
    })
    .catch((error: Error) => {
      throw encoding.error ?? error;
    });
  const encoded = await encoding.outcome();
  const ofRender = () => forks.failureOf(rendered, silentEnd, current.endReason, durationMs());
  const ofEncoding = () => forks.failureOf(encoded, silentEncoding, current.endReason, durationMs());
  // A render fails when its encoding has failed; an encoding only breaks off when its render has failed.
  const [failure, { end }] =
    hasFailed(encoded) && current.endReason === undefined
      ? [ofEncoding(), encoded]
      : [ofRender() ?? ofEncoding(), rendered];
  if (failure?.kind === 'killed' && end === encoded.end && zygote.layers.includes('namespaces'))
    throw new JobInterrupted(`the process that encodes the video ended by ${encoded.end.signal}`);
  return { rendered, encoded, failure, reason: end.reason ?? current.endReason };
}
