import type { Request } from '@hapi/hapi';
import type { Installation } from '../app/installation.ts';
import type { BackupDownload } from './backup-download.ts';
import type { LiveEvents } from './live-events.ts';
import { accountsRoutes } from './pages/accounts.ts';
import { actRoutes } from './pages/acts.ts';
import { assignmentRoutes } from './pages/assignment.ts';
import { assignmentListRoutes } from './pages/assignments.ts';
import { classLinkRoutes } from './pages/class-link.ts';
import { creditRoutes } from './pages/credits.ts';
import { fileRoutes } from './pages/file.ts';
import { fileListRoutes } from './pages/files.ts';
import { jobRoutes } from './pages/job.ts';
import { jobListRoutes } from './pages/job-list.ts';
import { joinRoutes } from './pages/join.ts';
import { keyRoutes } from './pages/keys.ts';
import { languageRoutes } from './pages/language.ts';
import { libraryRoutes } from './pages/library.ts';
import { liveRoutes } from './pages/live.ts';
import { overviewRoutes } from './pages/overview.ts';
import { accountRoutes } from './pages/own-account.ts';
import { ownSessionRoutes } from './pages/own-sessions.ts';
import { playgroundRoutes } from './pages/playground.ts';
import { receivedRoutes } from './pages/received.ts';
import { sceneRoutes } from './pages/scene.ts';
import { sceneCompareRoutes } from './pages/scene-compare.ts';
import { sceneDiffRoutes } from './pages/scene-diff.ts';
import { sceneListRoutes } from './pages/scenes.ts';
import { serviceRoutes } from './pages/service.ts';
import { setupRoutes } from './pages/set-up.ts';
import { shareRoutes } from './pages/share.ts';
import { shareListRoutes } from './pages/shares.ts';
import { signInRoutes } from './pages/sign-in.ts';
import { signInCodeRoutes } from './pages/sign-in-code.ts';
import { twoFactorRoutes } from './pages/two-factor.ts';
import { webhookTestRoutes } from './pages/webhook-test.ts';
import { webhookRoutes } from './pages/webhooks.ts';
import type { Route } from './route.ts';
import type { Attempts } from './sign-in/attempts.ts';
import type { Cookies } from './sign-in/cookies.ts';
import type { Devices } from './sign-in/devices.ts';
import type { SecondStep } from './sign-in/second-step.ts';
import type { Sessions } from './sign-in/sessions.ts';

/** Dependencies of the pages around signing in, and of locks; all others have only the administration of their visit. */
export interface RouteParts
  extends Pick<
    Installation,
    'accounts' | 'acts' | 'classLinks' | 'masterKeys' | 'place' | 'service' | 'twoFactor'
  > {
  sessions: Sessions;
  cookies: Cookies;
  devices: Devices;
  attempts: Attempts;
  /** Of codes of second factors. */
  codeAttempts: Attempts;
  secondStep: SecondStep;
  live: LiveEvents;
  backups: BackupDownload;
  addressOf: (request: Request) => string;
  /** Whose access tokens accounts can be linked to. */
  oidcIssuer: string | undefined;
}

/** All routes with pages. */
export function routesOf(parts: RouteParts): Route[] {
  return [
    ...signInRoutes(parts),
    ...signInCodeRoutes(parts),
    ...setupRoutes(parts),
    ...joinRoutes(parts),
    ...receivedRoutes(parts),
    ...languageRoutes(parts),
    ...accountRoutes(parts),
    ...ownSessionRoutes(parts),
    ...twoFactorRoutes(parts),
    ...liveRoutes(parts),
    ...libraryRoutes(),
    ...overviewRoutes(),
    ...playgroundRoutes(),
    ...sceneListRoutes(),
    ...sceneRoutes(),
    ...sceneDiffRoutes(),
    ...sceneCompareRoutes(),
    ...assignmentListRoutes(),
    ...assignmentRoutes(),
    ...classLinkRoutes(),
    ...jobListRoutes(),
    ...jobRoutes(),
    ...shareListRoutes(),
    ...shareRoutes(),
    ...fileListRoutes(),
    ...fileRoutes(),
    ...keyRoutes(),
    ...webhookRoutes(),
    ...webhookTestRoutes(),
    ...creditRoutes(),
    ...accountsRoutes(parts),
    ...serviceRoutes(parts),
    ...actRoutes(),
  ];
}
