import type Joi from 'joi';
import type { ApiFile } from '../../../lib/client/index.ts';
import { FILE_KINDS } from '../../../lib/internal.ts';
import { count, object, oneOf, text, time } from './parts.ts';

export const file: Joi.ObjectSchema = object<ApiFile>({
  fileId: text,
  name: text.description('The path under which scenes find it.'),
  kind: oneOf<ApiFile['kind']>(
    Object.fromEntries(Object.keys(FILE_KINDS).map((kind) => [kind, true])) as Record<ApiFile['kind'], true>,
  ),
  sizeBytes: count,
  sha256: text.description('Of its content, in hexadecimal.'),
  createdAt: time,
});
