import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

const SKILL = join(import.meta.dirname, '../../appliance/skill/scenepress');
const PLACES = ['.claude/skills/scenepress', '.agents/skills/scenepress'];
/** Neither command needs a renderer. */
const env = { SCENEPRESS_PYTHON: '/nowhere/python' };

t.test('skill install copies the skill to where agents look for it', async (t) => {
  const cwd = await temporaryFolder(t);
  const { code, stdout, stderr } = await scenepress(['skill', 'install'], { cwd, env });
  const paths = PLACES.map((place) => join(cwd, place));
  t.strictSame({ code, stdout, stderr }, { code: 0, stdout: `${paths.join('\n')}\n`, stderr: '' });
  for (const path of paths) t.strictSame(await filesIn(path), await filesIn(SKILL));
});

t.test('an earlier copy is replaced as a whole', async (t) => {
  const cwd = await temporaryFolder(t);
  const folder = join(cwd, 'skills', 'scenepress');
  await mkdir(join(folder, 'references'), { recursive: true });
  await writeFile(join(folder, 'SKILL.md'), '---\nname: scenepress\ndescription: Earlier.\n---\n');
  await writeFile(join(folder, 'references', 'earlier.md'), 'Earlier.');
  const { code, stdout } = await scenepress(['skill', 'install', '--dir', 'skills', '--json'], { cwd, env });
  t.strictSame({ code, ...JSON.parse(stdout) }, { code: 0, paths: [folder] });
  t.strictSame(await filesIn(folder), await filesIn(SKILL));
  t.strictSame(await readdir(join(cwd, 'skills')), ['scenepress'], 'nothing else is left');
});

t.test('what is not a copy of the skill is not replaced, and no other place is changed', async (t) => {
  const others: [reason: string, files: Record<string, string>][] = [
    ['its SKILL.md has another name', { 'SKILL.md': '---\nname: scenepress-of-mine\n---\n' }],
    ['its SKILL.md has another name', {}],
    ['it contains notes.txt', { 'SKILL.md': '---\nname: scenepress\n---\n', 'notes.txt': 'Mine.' }],
  ];
  for (const [reason, files] of others) {
    const cwd = await temporaryFolder(t);
    const folder = join(cwd, '.agents/skills/scenepress');
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const { code, stdout, stderr } = await scenepress(['skill', 'install'], { cwd, env });
    t.strictSame({ code, stdout }, { code: 2, stdout: '' });
    t.match(
      stderr,
      `${folder} is not a copy of this skill: ${reason}. Nothing was changed. Move it away, or`,
    );
    t.strictSame(await filesIn(folder), files);
    t.strictSame(await readdir(cwd), ['.agents']);
  }
});

t.test('folders that are one by a link get one copy', async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, '.agents/skills'), { recursive: true });
  await mkdir(join(cwd, '.claude'));
  await symlink('../.agents/skills', join(cwd, '.claude/skills'));
  const { stdout } = await scenepress(['skill', 'install'], { cwd, env });
  t.equal(stdout, `${join(cwd, '.agents/skills/scenepress')}\n`);
  t.strictSame(await filesIn(join(cwd, '.claude/skills/scenepress')), await filesIn(SKILL));
});

t.test('a folder that cannot be written is named, with what to do', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'file'), '');
  const { code, stderr } = await scenepress(['skill', 'install', '--dir', 'file/skills'], { cwd, env });
  t.equal(code, 1);
  t.match(stderr, /file\/skills\/scenepress can't be written: .*Name another folder with --dir\./);
});

t.test('skill show prints the skill or a reference', async (t) => {
  const texts = await filesIn(SKILL);
  const skill = await scenepress(['skill', 'show'], { env });
  t.strictSame(skill, { code: 0, stdout: texts['SKILL.md'], stderr: '' });
  const tex = await scenepress(['skill', 'show', 'tex', '--json'], { env });
  t.strictSame(JSON.parse(tex.stdout), {
    topic: 'tex',
    file: 'references/tex.md',
    text: texts['references/tex.md'],
  });
  const unknown = await scenepress(['skill', 'show', 'colours'], { env });
  t.match(unknown, { code: 2, stderr: /Allowed choices are skill, mobjects, animations/ });
});

/** The texts of the files below a folder, by their paths in it. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = paths
    .sort()
    .map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
}
