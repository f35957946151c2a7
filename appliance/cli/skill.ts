import { basename } from 'node:path';
import { Argument, Command } from 'commander';
import { readText, SKILL_FILES, SKILL_FOLDER } from '../packed/texts.ts';
import { addExamples } from './describe.ts';
import { installSkill } from './install-skill.ts';
import { print, printJson } from './output.ts';

/** Where agents look for the skills of a project. */
const PROJECT_FOLDERS = ['.claude/skills', '.agents/skills'];
/** What can be shown: the skill itself, and its references by their names. */
const FILES = new Map<string, string>(
  SKILL_FILES.map((file) => [basename(file, '.md').replace('SKILL', 'skill'), file]),
);

/** `scenepress skill …` */
export function skillCommand(): Command {
  const skill = new Command('skill').description(
    'Teach coding agents to write scenes, by a folder of instructions (a skill)',
  );
  addExamples(
    skill,
    ['scenepress skill install', 'for the agents that work in this folder'],
    ['scenepress skill show mobjects', 'print a page of it'],
  );
  return skill.addCommand(installCommand()).addCommand(showCommand());
}

function installCommand(): Command {
  const command = new Command('install')
    .description(
      'Copy the skill to where agents look for it: .claude/skills and .agents/skills of this folder',
    )
    .option(
      '--dir <folder>',
      'folder of skills to copy it to instead, such as ~/.claude/skills for all projects',
    )
    .option('--json', 'print JSON')
    .action(async ({ dir, json }: { dir?: string; json?: boolean }) => {
      const paths = await installSkill(dir === undefined ? PROJECT_FOLDERS : [dir]);
      if (json) printJson({ paths });
      else for (const path of paths) print(path);
    });
  return addExamples(
    command,
    ['scenepress skill install', 'again after an update: it replaces its earlier copy'],
    ['scenepress skill install --dir ~/.claude/skills', 'for all projects of this user'],
  );
}

function showCommand(): Command {
  const topics = [...FILES.keys()];
  const command = new Command('show')
    .description('Print the skill, or one of its references')
    .addArgument(new Argument('[topic]', 'page to print').choices(topics).default('skill', 'SKILL.md'))
    .option('--json', 'print JSON')
    .action(async (topic: string, { json }: { json?: boolean }) => {
      const file = FILES.get(topic) ?? '';
      const text = await readText(`${SKILL_FOLDER}/${file}`);
      if (json) printJson({ topic, file, text });
      else process.stdout.write(text);
    });
  return addExamples(
    command,
    ['scenepress skill show', 'how to write scenes, and the loop of check, inspect and render'],
    ['scenepress skill show animations', 'all animations with their parameters'],
  );
}
