import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';

/** The settings of `manim.cfg`. */
export interface ManimConfig {
  /** Values of the flags of `render`. */
  flags: {
    sizePx?: { width: number; height: number };
    fps?: number;
    format?: string;
    all?: boolean;
    preview?: boolean;
    saveSections?: boolean;
    firstPlay?: number;
    lastPlay?: number;
    disableCaching?: boolean;
    out?: string;
  };
  /** Settings that scenes see. */
  settings: Record<string, string>;
  /** Settings without effect here, with what to do instead. */
  ignored: string[];
}

/** Settings that are passed to scenes. */
const OF_SCENES = [
  'assets_dir',
  'background_color',
  'background_opacity',
  'frame_height',
  'frame_width',
  'seed',
  'tex_template_file',
  'zero_pad',
];
const OF_FLAGS = [
  'disable_caching',
  'format',
  'frame_rate',
  'from_animation_number',
  'output_file',
  'pixel_height',
  'pixel_width',
  'preview',
  'save_sections',
  'upto_animation_number',
  'write_all',
];
/** They concern a cache, a terminal or a window, so nothing is missing without them. */
const WITHOUT_EFFECT =
  /cach|progress_bar|verbosity|notify|window|gui|fullscreen|wireframe|shaders|latex_cleanup|encoder|log_|preview|dry_run|show_in/;
const REASONS: Record<string, string> = {
  media_dir: 'use -o FOLDER/',
  video_dir: 'use -o FOLDER/',
  images_dir: 'use -o FOLDER/',
  plugins: 'put modules beside the scene, or below python/ of --studio-dir',
  renderer: 'only Cairo draws here',
};

/** Without a file, and for renders by a service. */
export const NO_MANIM_CONFIG: ManimConfig = { flags: {}, settings: {}, ignored: [] };

/**
 * Reads the configuration of the `manim` command: that of the user, then `manim.cfg` in the current folder or the
 * `chosen` file.
 */
export function readManimConfig(chosen: string | undefined): ManimConfig {
  const home = homeFolder();
  const ofUser = home === undefined ? [] : [join(home, '.config', 'manim', 'manim.cfg')];
  const files = [...ofUser, chosen ?? 'manim.cfg'];
  const values: Record<string, string> = {};
  const ignored: string[] = [];
  for (const file of files) {
    const text = contents(file, file === chosen);
    if (text === undefined) continue;
    for (const [section, settings] of Object.entries(sectionsOf(text))) {
      if (section === 'CLI') Object.assign(values, settings);
      else if (section !== 'logger' && Object.keys(settings).length > 0) ignored.push(`section [${section}]`);
    }
  }
  for (const name of Object.keys(values)) {
    if (OF_SCENES.includes(name) || OF_FLAGS.includes(name) || WITHOUT_EFFECT.test(name)) continue;
    if (name === 'renderer' && values[name] === 'cairo') continue;
    ignored.push(REASONS[name] ? `${name} (${REASONS[name]})` : name);
  }
  return { flags: flagsOf(values), settings: settingsOf(values), ignored };
}

function flagsOf(values: Record<string, string>): ManimConfig['flags'] {
  const number = (name: string) => (values[name] ? Number(values[name]) : Number.NaN);
  const isSet = (name: string) => /^(true|yes|on|1)$/i.test(values[name] ?? '');
  const [width, height, fps] = ['pixel_width', 'pixel_height', 'frame_rate'].map(number) as [
    number,
    number,
    number,
  ];
  const [first, last] = ['from_animation_number', 'upto_animation_number'].map(number) as [number, number];
  return {
    ...(width > 0 && height > 0 && { sizePx: { width, height } }),
    ...(fps > 0 && { fps: Math.round(fps) }),
    ...(values['format'] && { format: values['format'].replace('_', '-') }),
    ...(values['output_file'] && { out: values['output_file'] }),
    ...(isSet('write_all') && { all: true }),
    ...(isSet('preview') && { preview: true }),
    ...(isSet('disable_caching') && { disableCaching: true }),
    ...(isSet('save_sections') && { saveSections: true }),
    ...(first >= 0 && { firstPlay: first }),
    ...(last >= 0 && { lastPlay: last }),
  };
}

/** As Manim does, the frame gets the shape of the picture, unless its width is set. */
function settingsOf(values: Record<string, string>): Record<string, string> {
  const settings = Object.fromEntries(Object.entries(values).filter(([name]) => OF_SCENES.includes(name)));
  const [width, height] = [Number(values['pixel_width']), Number(values['pixel_height'])];
  const frameHeight = Number(values['frame_height'] ?? 8);
  if (width > 0 && height > 0) settings['frame_width'] ??= String((frameHeight * width) / height);
  return settings;
}

function contents(file: string, isRequired: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (!isRequired) return undefined;
    throw new UserError(`The configuration can't be read: ${(cause as Error).message}.`, {
      exitCode: 2,
      cause,
    });
  }
}

/** Parses a file as Python's configparser does, without interpolation and values of several lines. */
function sectionsOf(text: string): Record<string, Record<string, string>> {
  const sections: Record<string, Record<string, string>> = {};
  let current: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\[([^\]]+)\]/.exec(line) ?? [];
    if (section !== undefined) {
      current = sections[section] ??= {};
      continue;
    }
    const [, name, value] = /^([^#;\s[][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) current[name.toLowerCase()] = value ?? '';
  }
  return sections;
}
