import type { Server, ServerInjectResponse } from '@hapi/hapi';
import type { RenderService } from '../../lib/index.ts';
import type { InternalToken } from '../http/authentication.ts';
import { UserError } from '../support/user-error.ts';

const API = '/api/v2/render';
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

/** Renders a scene through the HTTP API and returns the URL of its video. */
export async function renderWelcome(
  server: Server,
  service: RenderService,
  internalToken: InternalToken,
): Promise<string> {
  const headers = { authorization: `Bearer ${internalToken.token}`, 'content-type': 'application/json' };
  // Injected, not sent: the certificate of an HTTPS service needn't be valid for this machine's address.
  const ask = async <T>(method: string, url: string, payload?: string) =>
    answerOf<T>(await server.inject({ method, url, headers, ...(payload !== undefined && { payload }) }));
  const body = JSON.stringify({ code: SCENE, className: 'Welcome', metadata: 'The welcome scene' });
  const { jobId } = await ask<{ jobId: string }>('POST', API, body);
  await service.wait(jobId);
  const job = await ask<{ result: { video: string } | null; error: string | null }>('GET', `${API}/${jobId}`);
  if (!job.result) throw new UserError(`The welcome scene could not be rendered: ${job.error}`);
  return job.result.video;
}

async function answerOf<T>(response: ServerInjectResponse): Promise<T> {
  const answer = JSON.parse(response.payload) as T & { error?: string; message?: string };
  if (response.statusCode < 300) return answer;
  throw new UserError(`The welcome scene could not be rendered: ${answer.message ?? answer.error}`);
}
