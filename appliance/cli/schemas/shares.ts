import type Joi from 'joi';
import type { ApiShare } from '../../../lib/client/index.ts';
import { SHARE_SETTINGS } from '../../../lib/internal.ts';
import { count, list, object, oneOf, orNull, text, time, yes } from './parts.ts';

export const share: Joi.ObjectSchema = object<ApiShare>({
  shareId: text,
  url: text.description('The page to pass on.'),
  embedUrl: text.description('The page with the player alone, for frames of other sites.'),
  token: text.description('The secret part of both.'),
  jobIds: list(text),
  title: orNull(text),
  description: orNull(text),
  visibility: oneOf<ApiShare['visibility']>({ private: true, link: true, public: true }),
  poster: SHARE_SETTINGS.poster.required(),
  allowDownload: yes,
  state: oneOf<ApiShare['state']>({ open: true, private: true, expired: true, revoked: true }),
  views: count,
  createdAt: time,
  expiresAt: orNull(time),
  revokedAt: orNull(time),
});
