import Joi from 'joi';
import type { InspectedByUrl } from '../../../lib/client/index.ts';
import type { CheckedSource, Finding, InspectedSource, Play } from '../../../lib/index.ts';
import { FAILED_BY, FINDING_KINDS } from '../../../lib/internal.ts';
import { count, list, number, object, oneOf, orNull, text, time, yes } from './parts.ts';

type CheckedScene = CheckedSource['scenes'][number];
type InspectedScene = InspectedSource['scenes'][number];
type InspectedPlay = InspectedScene['plays'][number];
type Picture = InspectedScene['pictures'][number];

const position = count.allow(null);

/** What is wrong with a scene, where, and what to write instead. */
export const finding: Joi.ObjectSchema = object<Finding>({
  kind: Joi.string()
    .valid(...FINDING_KINDS)
    .description('What is wrong: with the code, a formula, what is seen, or a limit.'),
  severity: oneOf<Finding['severity']>({ error: true, warning: true }).description(
    'An error keeps the scene from being rendered, or from being checked; a warning does not.',
  ),
  message: text.description('What is wrong, in a sentence.'),
  line: position.description('The line of the code, from 1; null: not known.'),
  column: position.description('The column, from 1, in characters; null: not known.'),
  endLine: position.description('The line that it ends in; null: not known.'),
  endColumn: position.description('The column after its last character; null: not known.'),
  sourceLine: text.allow(null).description('The line without indentation, in short; null: not known.'),
  hint: text.allow(null).description('What to do about it, in a sentence; null: not known.'),
  candidates: list(text).description('What can be written instead, the likeliest first.'),
  fix: object<NonNullable<Finding['fix']>>({
    line: count.description(
      'From 1; not that of the finding where an import or the base of the class is at fault.',
    ),
    column: count.description('The first column, from 1, in characters.'),
    endColumn: count.description(
      'The column after the last character; the first column: it is an insertion.',
    ),
    text: text.description('It may contain line breaks.'),
  })
    .allow(null)
    .description('What to write instead, if that is certain or very likely; else null.'),
  tex: object<NonNullable<Finding['tex']>>({
    source: text.description('The line of the expression, or all of it.'),
    logLine: text.description("TeX's message."),
    packages: list(text).description('LaTeX packages that define what is missing.'),
  })
    .allow(null)
    .description('Of an error of TeX; null: of others.'),
  layout: object<NonNullable<Finding['layout']>>({
    mobject: text
      .allow(null)
      .description('The variable that it is in, or its class; null: it is about no mobject.'),
    box: object<{ left: number; right: number; bottom: number; top: number }>({
      left: number,
      right: number,
      bottom: number,
      top: number,
    })
      .allow(null)
      .description("A part of the frame, in Manim's units."),
    seconds: number.description('The time in the video.'),
  })
    .allow(null)
    .description('Of what the scene shows; null: of others.'),
  play: position.description('The last play that had begun, counted from 0; null: none, or not known.'),
  calls: list(
    object<Finding['calls'][number]>({
      file: text.description("Relative to the author's folder."),
      line: count,
      function: text.description('Empty for code at the top level of a file.'),
      source: text.description('The line, in short.'),
    }),
  ).description("The calls of the author's code that led to it, outermost first."),
});

/** The diagnosis of a failed render. */
export const diagnosis: Joi.ObjectSchema = finding
  .allow(null)
  .description('What is wrong with the scene, where, and what to write instead; null unless it failed.');

export const failedBy: Joi.AlternativesSchema = orNull(Joi.string().valid(...FAILED_BY)).description(
  'What a failed render failed by, for programs; null unless it failed and the cause is known.',
);

const ofPlay = {
  line: count.description('The line of the code that plays it; 0: not known.'),
  shows: text.description('What it shows, in short.'),
  startSeconds: number.description('When it begins in the video.'),
  seconds: number.description('Its length in the video.'),
};
export const play: Joi.ObjectSchema = object<Play>(ofPlay);

const ofScene = {
  className: text,
  frames: count.description('The length of its video.'),
  seconds: number.description('The length of its video.'),
  readsPixels: yes.description('It reads the pixels of its camera: a render may differ from a check.'),
};
const ofSource = {
  ok: yes.description('Whether no finding is an error.'),
  findings: list(finding).description('What is wrong, each once, in the order of lines.'),
};

const param = object<CheckedSource['params'][number]>({
  name: text,
  type: oneOf<CheckedSource['params'][number]['type']>({
    ...{ string: true, integer: true, number: true, boolean: true, array: true, object: true, any: true },
  }).description('In the words of JSON Schema, or `any`.'),
  default: Joi.any().description('Its value where none is given; null: it has none, or it is not known.'),
  label: text.allow(null).description('For people.'),
  minimum: number.allow(null).description('Of a number, or of the length of another value.'),
  maximum: number.allow(null).description('Of a number, or of the length of another value.'),
  choices: list(Joi.any()).allow(null).description('The only values that it may have; null: any.'),
});

export const checkedSource: Joi.ObjectSchema = object<CheckedSource>({
  ...ofSource,
  params: list(param)
    .optional()
    .default([])
    .description('The parameters that the scenes declare, each once. Earlier versions tell none.'),
  scenes: list(
    object<CheckedScene>({ ...ofScene, plays: list(play).description('Its plays, at most 1,000.') }),
  ).description('The scenes that would be rendered; empty with `--no-run`.'),
});

const ofPlays = list(
  object<InspectedPlay>({
    ...ofPlay,
    moves: list(text).description('The variables of the mobjects that it animates, or their classes.'),
  }),
);
const output = text.description('What its code printed, and warnings.');
const ofPicture = {
  number: count.description('From 1; it is written on the contact sheet.'),
  play: position.description('The play that it is of, counted from 0; null: of none.'),
  line: position.description('The line of the code that plays it; null: not known.'),
  seconds: number.description('Its time in the video.'),
};

/** With the paths of pictures instead of their bytes. */
export const inspectedSource: Joi.ObjectSchema = object<InspectedSource>({
  ...ofSource,
  scenes: list(
    object<InspectedScene>({
      ...ofScene,
      plays: ofPlays,
      output,
      sheet: text.allow(null).description('The path of its contact sheet, a JPEG.'),
      pictures: list(
        object<Omit<Picture, 'jpeg'> & { path: string | null }>({
          ...ofPicture,
          path: text.allow(null).description('Its file; null without `--pictures`.'),
        }),
      ),
    }),
  ).description('The scenes that would be rendered.'),
});

type SceneByUrl = InspectedByUrl['scenes'][number];

/** What a service answers; the names of scenes become those of files. */
export const inspectedByUrl: Joi.ObjectSchema = object<InspectedByUrl>({
  ...ofSource,
  scenes: list(
    object<SceneByUrl>({
      ...ofScene,
      className: Joi.string().pattern(/^[\p{XID_Start}_]\p{XID_Continue}{0,199}$/u),
      plays: ofPlays,
      ...{ output, sheet: text },
      pictures: list(object<SceneByUrl['pictures'][number]>({ ...ofPicture, url: text })),
      creditsCost: count,
      expiresAt: time,
    }),
  ),
});
