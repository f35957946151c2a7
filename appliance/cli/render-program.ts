import { Command } from 'commander';
import { renderCommand } from './render.ts';

/** The program with `render` only. */
export function renderProgram(): Command {
  return new Command('scenepress').addCommand(renderCommand());
}
