import type { Server } from '@hapi/hapi';
import type { RenderService } from '../lib/index.ts';
import { listeningUrl } from './addresses.ts';
import type { HouseToken } from './authentication.ts';
import { UserError } from './user-error.ts';

const SCENE = String.raw`from manim import *


class Welcome(Scene):
    def construct(self):
        circle = Circle(radius=1.6, color=BLUE, fill_opacity=0.25).shift(DOWN * 0.6)
        formula = MathTex(r"e^{i\pi} + 1 = 0").move_to(circle)
        title = Text("Scenepress is ready", font_size=56).to_edge(UP, buff=1)
        self.play(Create(circle), Write(title))
        self.play(Write(formula))
        self.play(circle.animate.scale(1.2).set_color(GREEN))
        self.wait(0.5)
`;

/** Renders a scene the way clients do, over HTTP, and returns the URL of its video. */
export async function renderWelcome(
  server: Server,
  service: RenderService,
  house: HouseToken,
): Promise<string> {
  const api = `${listeningUrl(server)}/api/v2/render`;
  const headers = { authorization: `Bearer ${house.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ code: SCENE, className: 'Welcome', metadata: 'The welcome scene' });
  const { jobId } = await answerOf<{ jobId: string }>(await fetch(api, { method: 'POST', headers, body }));
  await service.wait(jobId);
  const job = await answerOf<{ result: { video: string } | null; error: string | null }>(
    await fetch(`${api}/${jobId}`, { headers }),
  );
  if (!job.result) throw new UserError(`The welcome scene could not be rendered: ${job.error}`);
  return job.result.video;
}

async function answerOf<T>(response: Response): Promise<T> {
  const answer = (await response.json()) as T & { error?: string; message?: string };
  if (response.ok) return answer;
  throw new UserError(`The welcome scene could not be rendered: ${answer.message ?? answer.error}`);
}
