import Joi from 'joi';
import type { Config } from '../../config/config.ts';
import type { shownSetting } from '../config.ts';
import type { Versions } from '../version.ts';
import { count, list, object, oneOf, text } from './parts.ts';

type Shown = ReturnType<typeof shownSetting>;

export const settings: Joi.ArraySchema = list(
  object<Omit<Shown, 'option'> & { option: keyof Config }>({
    option: text,
    value: Joi.any().description('Null without a value; `(hidden)` for secrets.'),
    source: oneOf<Shown['source']>({ flag: true, environment: true, file: true, default: true }),
  }),
);

export const configProblems: Joi.ObjectSchema = object<{ file: string | null; problems: string[] }>({
  file: text.allow(null).description('The configuration file; null without one.'),
  problems: list(text).description('Empty if the configuration is valid.'),
});

export const versions: Joi.ObjectSchema = object<Versions>({
  scenepress: text,
  node: text,
  platform: text.description('Such as `linux x64`.'),
  openssl: text,
});

export const supportBundle: Joi.ObjectSchema = object<{
  file: string;
  sizeBytes: number;
  contents: string[];
}>({ file: text, sizeBytes: count, contents: list(text).description('The names of the files in it.') });

export const installedSkill: Joi.ObjectSchema = object<{ paths: string[] }>({
  paths: list(text).description('The folders of the skill.'),
});

export const skillPage: Joi.ObjectSchema = object<{ topic: string; file: string; text: string }>({
  topic: text,
  file: text.description('Relative to the folder of the skill.'),
  text: text.description('Markdown.'),
});

export const metrics: Joi.ObjectSchema = object<{ text: string }>({
  text: text.description('In the text format of Prometheus.'),
});

export const dashboard: Joi.ObjectSchema = Joi.object()
  .unknown()
  .description('A dashboard in the format of Grafana.');

export const openApi: Joi.ObjectSchema = Joi.object().unknown().description('An OpenAPI 3.1 document.');

export const schemas: Joi.AlternativesSchema = Joi.alternatives(
  list(text).description('Without a command: the commands that have a schema.'),
  Joi.object().unknown().description('With a command: a JSON Schema, draft 2020-12.'),
);
