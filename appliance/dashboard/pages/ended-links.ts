import { html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';

/** A link that is to be revoked or removed. */
interface Ended {
  name: string;
  /** Of its page, below {@link BASE}. */
  path: string;
}

/** How a kind of links ends. */
interface Ends {
  /** Of the pages of these links, below {@link BASE}. */
  path: string;
  find: (visit: Visit) => Promise<Ended>;
  revoke: (visit: Visit) => Promise<unknown>;
  remove: (visit: Visit) => Promise<unknown>;
  /** Of the questions, with `{name}` in them, and of what was done. */
  texts: () => Record<'revokeQuestion' | 'wasRevoked' | 'removeQuestion' | 'wasRemoved', string>;
  /** Where the list of these links is. */
  list: (visit: Visit) => string;
}

/** The pages that ask whether a link is to be revoked or removed, and their forms. */
export function endRoutes(ends: Ends): Route[] {
  const { path, find, list } = ends;
  const told = (to: string, text: string) => ({ to, tell: { note: { kind: 'good' as const, text } } });
  return [
    {
      method: 'GET',
      path: `${path}/revoke`,
      for: 'members',
      handler: (visit) => question(visit, ends, 'revoke'),
    },
    {
      method: 'POST',
      path: `${path}/revoke`,
      for: 'members',
      async handler(visit) {
        const link = await find(visit);
        await ends.revoke(visit);
        return told(link.path, ends.texts().wasRevoked);
      },
    },
    {
      method: 'GET',
      path: `${path}/remove`,
      for: 'members',
      handler: (visit) => question(visit, ends, 'remove'),
    },
    {
      method: 'POST',
      path: `${path}/remove`,
      for: 'members',
      async handler(visit) {
        await ends.remove(visit);
        return told(list(visit), ends.texts().wasRemoved);
      },
    },
  ];
}

async function question(visit: Visit, { find, texts: textsOf }: Ends, act: 'revoke' | 'remove') {
  const { assignments: t, common } = texts();
  const { viewer, csrf } = visit;
  const { name, path } = await find(visit);
  const { revokeQuestion, removeQuestion } = textsOf();
  const [title, asked] = act === 'revoke' ? [t.revokeTitle, revokeQuestion] : [t.removeTitle, removeQuestion];
  return page(
    { title, section: 'assignments', viewer, csrf },
    html`<section class="card">
<p>${filled(asked, { name: html`<strong>${name}</strong>` })}</p>
<div class="actions">${postButton({ to: `${path}/${act}`, csrf, label: title, look: 'danger' })}<a class="button" href="${BASE}${path}">${common.cancel}</a></div>
</section>`,
  );
}
