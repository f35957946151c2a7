import type Joi from 'joi';
import type { CheckedSource, InspectedByUrl } from '../../lib/client/index.ts';
import type { InspectedSource, LocalRequest } from '../../lib/index.ts';
import { textOf } from './remote-renderer.ts';
import { ofTools, type RemoteService } from './remote-service.ts';
import { checkedSource, inspectedByUrl } from './schemas/findings.ts';
import type { CheckOptions } from './warm-renderer.ts';

/** For which render, and of which scene. */
export type Question = CheckOptions;

/** A renderer of this machine, or a service. */
export interface AsksAboutScenes {
  check: (code: LocalRequest['code'], question: Question & { dryRun?: boolean }) => Promise<CheckedSource>;
  /** `isSingly`: whether pictures are needed besides the sheets. */
  inspect: (
    code: LocalRequest['code'],
    question: Question,
    options: { isSingly?: boolean },
  ) => Promise<InspectedSource>;
}

/** Checks and inspects by a service elsewhere, whose answers may be anything. */
export class RemoteScenes implements AsksAboutScenes {
  readonly #service: RemoteService;

  constructor(service: RemoteService) {
    this.#service = service;
  }

  async check(
    code: LocalRequest['code'],
    { dryRun = true, ...question }: Question & { dryRun?: boolean } = {},
  ): Promise<CheckedSource> {
    return this.#service.call(async ({ client, signal }) => {
      const options = { ...fieldsOf(question), dryRun, signal };
      return valid<CheckedSource>(checkedSource, await ofTools(client.check(textOf(code), options)));
    }, question.signal);
  }

  /** Only sheets have bytes, unless pictures are wanted singly. */
  async inspect(
    code: LocalRequest['code'],
    question: Question = {},
    { isSingly = false }: { isSingly?: boolean } = {},
  ): Promise<InspectedSource & { creditsCost: number }> {
    return this.#service.call(async ({ client, signal, picture }) => {
      const options = { ...fieldsOf(question), signal };
      const answer = await ofTools(client.inspect(textOf(code), options));
      const { scenes, ...found } = valid<InspectedByUrl>(inspectedByUrl, answer);
      const fetched: InspectedSource['scenes'] = [];
      for (const { creditsCost: _, expiresAt: __, sheet, pictures, ...scene } of scenes) {
        const singly: InspectedSource['scenes'][number]['pictures'] = [];
        for (const { url, ...of } of pictures)
          singly.push({ ...of, jpeg: isSingly ? await picture(url) : new Uint8Array() });
        fetched.push({ ...scene, sheet: await picture(sheet), pictures: singly });
      }
      const creditsCost = scenes.reduce((sum, scene) => sum + scene.creditsCost, 0);
      return { ...found, scenes: fetched, creditsCost };
    }, question.signal);
  }
}

/** A service has no settings of a manim.cfg. */
function fieldsOf({ config: _, signal: __, ...fields }: Question): Omit<Question, 'config' | 'signal'> {
  return fields;
}

/** The answer without members that another version has added. Error: for an answer that is none of this API. */
export function valid<T>(schema: Joi.Schema, answer: unknown): T {
  const { error, value } = schema.validate(answer, { convert: false, stripUnknown: true });
  if (error)
    throw new Error(
      `it answers what this version doesn't know (${error.message}). Use the version of the service here`,
    );
  return value as T;
}
