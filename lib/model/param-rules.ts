import Joi from 'joi';
import { checked } from '../base/checked.ts';
import { PARAM_NAME, type Params } from './params.ts';

const LONGEST_BYTES = 64 * 1024;
const MOST = 100;

/** The schema of the field `params` of requests. */
export const PARAMS: Joi.ObjectSchema<Params> = Joi.object<Params>()
  .pattern(Joi.string().allow(''), Joi.any())
  .max(MOST)
  .custom((value: Params, { message }) => {
    const name = Object.keys(value).find((given) => !PARAM_NAME.test(given));
    if (name !== undefined)
      return message(
        { custom: '{{#label}} must have Python identifiers as names, not "{{#name}}"' },
        { name },
      );
    return bytesOf(value) <= LONGEST_BYTES
      ? value
      : message({ custom: '{{#label}} must be JSON of at most 64 KiB' });
  })
  .description(
    `Values of parameters that the scene declares, by name: at most ${MOST}, and 64 KiB of JSON. Default: those of the scene.`,
  );
const SCHEMA = Joi.object<{ params?: Params }>({ params: PARAMS });

/** The parameters of a request. Error: `invalid_request`. */
export function paramsOf(params: unknown): Params | undefined {
  const { params: valid } = checked('params', { params }, SCHEMA);
  // As they will be after they were stored.
  return valid && (JSON.parse(JSON.stringify(valid)) as Params);
}

function bytesOf(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
