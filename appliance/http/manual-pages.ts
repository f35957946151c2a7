import { SKILL_FOLDER } from '../packed/texts.ts';

/** A page of the manual. */
export interface ManualPage {
  /** In the package. */
  path: string;
  title: string;
  /** What is in it, in a line. */
  about: string;
}

const skill = (name: string) => `${SKILL_FOLDER}/${name}`;

/** The pages that the appliance serves, by the sections of `/llms.txt`. */
export const MANUAL: Record<string, ManualPage[]> = {
  'HTTP API': [
    page(
      'appliance/api.md',
      'HTTP API',
      'endpoints, errors, repeated requests, webhooks and their verification',
    ),
    page(
      'appliance/tools-api.md',
      'Tools API',
      'checks, pictures, lists, waits, events, cancel, batches and usage over HTTP',
    ),
    page('appliance/mcp.md', 'MCP', 'tools for language models, over standard input and output or over HTTP'),
    page('appliance/render-api.md', 'API contract', 'the contract of the render API, section by section'),
  ],
  'Writing scenes': [
    page(
      skill('SKILL.md'),
      'Writing Manim scenes',
      'the loop of check, inspect and render; patterns, layout, pacing',
    ),
    page(
      'appliance/scenes.md',
      'Parameters, narration and slides of scenes',
      'what scenes import of Scenepress, with all rules',
    ),
    page(
      skill('references/mobjects.md'),
      'Mobjects',
      'shapes, plots, tables, graphs, 3D: signatures and methods',
    ),
    page(skill('references/animations.md'), 'Animations', 'what `self.play` takes, with signatures'),
    page(
      skill('references/cameras.md'),
      'Scenes and cameras',
      'scenes with a moving camera or in three dimensions',
    ),
    page(skill('references/tex.md'), 'Text and formulas', 'text, LaTeX, Typst, and the packages of commands'),
    page(
      skill('references/narration.md'),
      'Parameters, narration and slides',
      'values that a render gives a scene, audio that is made elsewhere',
    ),
    page(
      skill('references/mistakes.md'),
      'Common mistakes',
      'old and wrong names with the right ones; messages',
    ),
  ],
  'Running it': [
    page('README.md', 'Scenepress', 'what it is, and a quick start'),
    page(
      'appliance/README.md',
      'The appliance',
      'dashboard, sign-in and roles, credits, the single executable',
    ),
    page('appliance/cli.md', 'Command line', 'rendering, checking and inspecting scenes; all commands'),
    page(
      'appliance/sharing.md',
      'Sharing videos',
      'links for others, frames on other sites, what a link shows',
    ),
    page(
      'appliance/assignments.md',
      'Assignments and classes',
      'links under which others get code as a scene of their own, or make accounts',
    ),
    page('appliance/operations.md', 'Operations', 'configuration, data, backup, monitoring, TLS, capacity'),
    page('appliance/traces.md', 'Traces', 'OpenTelemetry: variables, spans and attributes'),
    page('appliance/cluster.md', 'More than one machine', 'Postgres, S3, workers, moving an installation'),
    page('appliance/container/README.md', 'Containers', 'an image, and what its sandbox needs'),
    page('appliance/deployment/README.md', 'Deployment', 'files for Compose and Kubernetes'),
    page(
      'renderer/README.md',
      'The renderer',
      'how scenes are rendered, fidelity, sandbox and security model',
    ),
  ],
  Library: [
    page('lib/README.md', 'Embedding', 'the npm library: services, stores, the client, webhooks'),
    page('lib/http-api.md', 'The HTTP API in other servers', 'for Express, Fastify, Hono and Next.js'),
    page('lib/several-machines.md', 'Postgres, S3 and several machines', 'for services of several processes'),
  ],
  Optional: [
    page('CHANGELOG.md', 'Changelog', 'what each version brought'),
    page('renderer/measurements.md', 'Measurements', 'how fast renders are, and what they cost'),
    page('lib/inside.md', 'Inside the library', 'folders, the life of a job, decisions'),
    page('appliance/dashboard/README.md', 'Inside the dashboard', 'rules of its design, how a page is made'),
    page('scripts/README.md', 'Scripts', 'set-up, builds and benchmarks'),
    page('test/README.md', 'Tests', 'how they are organised and run'),
    page('.github/CONTRIBUTING.md', 'Contributing', 'how to change Scenepress, and a glossary'),
    page('.github/SECURITY.md', 'Security', 'how to report a vulnerability'),
  ],
};

/** The paths of all pages, in the package. */
export const MANUAL_PATHS: string[] = Object.values(MANUAL)
  .flat()
  .map(({ path }) => path);

function page(path: string, title: string, about: string): ManualPage {
  return { path, title, about };
}
