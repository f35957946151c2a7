import { isLanguage } from '../language/texts.ts';
import { BASE, pageOfForm, type Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** The choice of a language, also before signing in. */
export function languageRoutes({ cookies }: Pick<RouteParts, 'cookies'>): Route[] {
  return [
    {
      method: 'POST',
      path: '/language',
      for: 'everyone',
      async handler({ request, h, form }) {
        const { language } = form;
        if (isLanguage(language)) cookies.setLanguage(request, h, language);
        const from = pageOfForm(request);
        // The answer to a form may stand at a path without a page.
        const isPage = request.server.match('get', BASE + from.split('?', 1)[0])?.method === 'get';
        return { to: isPage ? from : '' };
      },
    },
  ];
}
