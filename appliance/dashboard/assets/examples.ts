import { type Asset, asset } from './asset.ts';
import { EXAMPLE_FILES } from './generated/example-files.ts';

/** A scene of the gallery. */
export interface Example {
  name: string;
  title: string;
  code: string;
  className: string;
  aspectRatio: '16:9' | '9:16';
  /** Path of a picture of it. */
  picture: string;
}

const FORM = /^# (.+?)\n.*?^class (\w+)\(\w*Scene\):/ms;

/** An example begins with its title, and defines one scene. A title that ends with `(9:16)` makes it a portrait. */
export const EXAMPLES: [Example, ...Example[]] = EXAMPLE_FILES.map(({ name, code, jpegBase64 }) => {
  const [, title = '', className = ''] = FORM.exec(code) ?? [];
  const picture = pictureAsset(name, jpegBase64).path;
  const aspectRatio = title.endsWith('(9:16)') ? '9:16' : '16:9';
  return { name, title, code, className, aspectRatio, picture };
}) as [Example, ...Example[]];

export const EXAMPLE_ASSETS: Asset[] = EXAMPLE_FILES.map(({ name, jpegBase64 }) =>
  pictureAsset(name, jpegBase64),
);

function pictureAsset(name: string, jpegBase64: string): Asset {
  return asset(name, 'jpg', 'image/jpeg', Buffer.from(jpegBase64, 'base64'));
}
