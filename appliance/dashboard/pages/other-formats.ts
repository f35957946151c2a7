import { JOB_FORMATS, type JobFormat } from '../../../lib/internal.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField } from '../layout.ts';
import { BASE } from '../route.ts';

/** A form that renders a completed job again, with formats that it lacks. */
export function otherFormats({ jobId, status, code, formats }: JobDetails, csrf: string): Html | false {
  if (status !== 'completed' || code === null) return false;
  const { job: t } = texts();
  const boxes = JOB_FORMATS.filter((format) => !formats.includes(format)).map(
    (format) =>
      html`<label class="check"><input type="checkbox" name="formats" value="${format}"> ${format} <span class="hint">${t.format(format)}</span></label>`,
  );
  if (boxes.length === 0) return false;
  return html`<details class="card more"><summary>${t.otherFormats}</summary><form method="post" action="${BASE}/jobs/${jobId}/render-again" class="body stack dense">${csrfField(csrf)}
${boxes}<div><button>${t.renderWithThese}</button></div></form></details>`;
}

/** Those of a form, which may name anything; undefined: none. */
export function chosenFormats(values: string[]): JobFormat[] | undefined {
  const chosen = JOB_FORMATS.filter((format) => values.includes(format));
  return chosen.length > 0 ? chosen : undefined;
}
